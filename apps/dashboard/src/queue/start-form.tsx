import { type FormEvent, useState } from 'react';
import { useOpenPage } from '../as-of/shown-moment';
import { useStartOptions, useStartRun } from '../api/queue-queries';
import type { RunDetail } from '../api-types/schema';
import controls from '../components/controls.module.css';
import styles from '../components/form.module.css';
import { ModalDialog } from '../components/modal-dialog';
import { labelSeeds } from '../metrics/seed-groups';
import { forkFields, formatPolicy, readStart, parseVersion, type StartFields } from './read-start';

const EMPTY: StartFields = {
  ...{ recipe: 'frozen-lake-ppo', algorithm: '', numUpdates: '', seed: '', initFrom: '', overrides: '' },
};

interface StartFormProps {
  readonly title: string;
  /** The run that is forked; null for a run of a built-in recipe. */
  readonly parent: RunDetail | null;
  readonly onClosed: () => void;
}

/** A dialog that starts a run, or forks one. */
export function StartForm({ title, parent, onClosed }: StartFormProps) {
  const start = useStartRun();
  const open = useOpenPage();
  const [fields, setFields] = useState<StartFields>({ ...EMPTY, ...(parent && forkFields(parent.runId)) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      onClosed();
      // The list of runs has the queue.
      if (parent !== null) open('/');
    };
    start.mutate(readStart(fields), { onSuccess });
  };
  return (
    <ModalDialog label={title} onClose={onClosed}>
      <form className={styles.form} onSubmit={submit}>
        <h2>{title}</h2>
        <StartFieldset {...{ fields, parent }} onChange={(changed) => setFields({ ...fields, ...changed })} />
        {start.error && (
          <p role="alert" className={styles.error}>
            {start.error.message}
          </p>
        )}
        <p className={styles.buttons}>
          <button type="button" className={controls.button} onClick={onClosed}>
            Close
          </button>
          <button type="submit" className={controls.primary} disabled={start.isPending}>
            Start
          </button>
        </p>
      </form>
    </ModalDialog>
  );
}

interface StartFieldsetProps extends Pick<StartFormProps, 'parent'> {
  readonly fields: StartFields;
  readonly onChange: (changed: Partial<StartFields>) => void;
}

function StartFieldset({ fields, parent, onChange }: StartFieldsetProps) {
  const { data } = useStartOptions();
  return (
    <>
      {parent === null ? (
        <RecipeField {...{ fields, onChange }} />
      ) : (
        <PolicyField {...{ fields, parent, onChange }} />
      )}
      <label className={styles.field}>
        Algorithm
        <select value={fields.algorithm} onChange={({ target }) => onChange({ algorithm: target.value })}>
          <option value="">that of the recipe</option>
          {data?.algorithms.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <div className={styles.row}>
        <NumberField
          label="Updates"
          min={1}
          value={fields.numUpdates}
          onChange={(numUpdates) => onChange({ numUpdates })}
        />
        <NumberField label="Seed" min={0} value={fields.seed} onChange={(seed) => onChange({ seed })} />
      </div>
      {parent === null && <InitField {...{ fields, onChange }} />}
      <label className={styles.field}>
        Other fields of the recipe, one a line
        <textarea
          rows={3}
          spellCheck={false}
          placeholder="optimizer.learningRate=0.0003"
          value={fields.overrides}
          onChange={({ target }) => onChange({ overrides: target.value })}
        />
      </label>
    </>
  );
}

type FieldProps = Pick<StartFieldsetProps, 'fields' | 'onChange'>;

function RecipeField({ fields, onChange }: FieldProps) {
  const { data } = useStartOptions();
  const recipes = data?.recipes ?? [];
  return (
    <label className={styles.field}>
      Recipe
      <select value={fields.recipe} onChange={({ target }) => onChange({ recipe: target.value })}>
        {recipes.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <small>{recipes.find(({ name }) => name === fields.recipe)?.description}</small>
    </label>
  );
}

function InitField({ fields, onChange }: FieldProps) {
  return (
    <label className={styles.field}>
      Start from the policy of another run
      <input
        maxLength={216}
        spellCheck={false}
        placeholder="run:latest@best"
        value={fields.initFrom}
        onChange={({ target }) => onChange({ initFrom: target.value })}
      />
    </label>
  );
}

/** The version of the parent's policy that a fork starts from: version n is that after update n; without one, the newest. */
function PolicyField({ fields, parent, onChange }: FieldProps & { readonly parent: RunDetail }) {
  return (
    <>
      <p className={styles.field}>
        A run with the recipe of {labelSeeds([parent])}, from its policy. The optimizer starts from scratch.
        Updates and seed are those of that run where they are empty. A fork with the same fields as one that
        was stopped goes on with it: change the seed for another.
      </p>
      <label className={styles.field}>
        Policy version, after the update of that number
        <input
          type="number"
          min={0}
          max={parent.policyVersion ?? 0}
          placeholder="the newest when the fork begins"
          value={parseVersion(fields.initFrom)}
          onChange={({ target }) => onChange({ initFrom: formatPolicy(parent.runId, target.value) })}
        />
        <small>The weights of some versions are not kept; those of the newest are.</small>
      </label>
    </>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly min: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function NumberField({ label, min, value, onChange }: NumberFieldProps) {
  return (
    <label className={styles.field}>
      {label}
      <input
        type="number"
        min={min}
        placeholder="of the recipe"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
