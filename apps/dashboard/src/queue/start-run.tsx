import { useState } from 'react';
import { useStartOptions, useStartRun } from '../api/queue-queries';
import controls from '../components/controls.module.css';
import { ModalDialog } from '../components/modal-dialog';
import { readStart, type StartFields } from './read-start';
import styles from './queue.module.css';

const EMPTY: StartFields = {
  ...{ recipe: 'frozen-lake-ppo', algorithm: '', numUpdates: '', seed: '', initFrom: '', overrides: '' },
};

/** A button and its dialog, which starts a run of a built-in recipe or queues it. */
export function StartRun() {
  const [isOpen, setOpen] = useState(false);
  const start = useStartRun();
  const [fields, setFields] = useState(EMPTY);
  const close = () => {
    setOpen(false);
  };
  return (
    <>
      <button
        type="button"
        className={controls.primary}
        onClick={() => {
          start.reset();
          setOpen(true);
        }}
      >
        Start a run
      </button>
      {isOpen && (
        <ModalDialog label="Start a run" onClose={close}>
          <form
            className={styles.form}
            onSubmit={(event) => {
              event.preventDefault();
              start.mutate(readStart(fields), { onSuccess: close });
            }}
          >
            <h2>Start a run</h2>
            <StartFieldset fields={fields} onChange={(changed) => setFields({ ...fields, ...changed })} />
            {start.error && (
              <p role="alert" className={styles.error}>
                {start.error.message}
              </p>
            )}
            <p className={styles.buttons}>
              <button type="button" className={controls.button} onClick={close}>
                Close
              </button>
              <button type="submit" className={controls.primary} disabled={start.isPending}>
                Start
              </button>
            </p>
          </form>
        </ModalDialog>
      )}
    </>
  );
}

interface StartFieldsetProps {
  readonly fields: StartFields;
  readonly onChange: (changed: Partial<StartFields>) => void;
}

function StartFieldset({ fields, onChange }: StartFieldsetProps) {
  const { data } = useStartOptions();
  const recipes = data?.recipes ?? [];
  return (
    <>
      <label className={styles.field}>
        Recipe
        <select value={fields.recipe} onChange={({ target }) => onChange({ recipe: target.value })}>
          {recipes.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <small>{recipes.find(({ name }) => name === fields.recipe)?.description}</small>
      </label>
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
