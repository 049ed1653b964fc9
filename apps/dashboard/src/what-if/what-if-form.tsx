import { useState } from 'react';
import { useAskWhatIf } from '../api/what-if-queries';
import type { RunDetail, WhatIf } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { ErrorState } from '../components/notice';
import page from '../components/page.module.css';
import { presetsFor } from './presets';
import { readForm, type WhatIfFields } from './read-form';
import styles from './what-if-form.module.css';

interface WhatIfFormProps {
  readonly run: Pick<RunDetail, 'runId' | 'recipe'>;
  /** Number that the form begins with. */
  readonly updateNumber: string;
  readonly onAsked: (whatIf: WhatIf) => void;
}

/** Asks what updates of the run would have been. */
export function WhatIfForm({ run, updateNumber, onAsked }: WhatIfFormProps) {
  const ask = useAskWhatIf(run.runId);
  const [fields, setFields] = useState<WhatIfFields>({
    ...{ update: updateNumber, to: '', set: '', rewardVersion: '', withTokens: false },
  });
  const change = (changed: Partial<WhatIfFields>) => {
    setFields({ ...fields, ...changed });
  };
  return (
    <section className={page.card} aria-label="Ask">
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate(readForm(fields), { onSuccess: onAsked });
        }}
      >
        <UpdateField
          label="Update"
          value={fields.update}
          onChange={(update) => change({ update })}
          isRequired
        />
        <UpdateField label="up to" value={fields.to} onChange={(to) => change({ to })} />
        <label className={controls.field}>
          Reward version
          <input
            className={controls.input}
            maxLength={256}
            value={fields.rewardVersion}
            onChange={({ target }) => change({ rewardVersion: target.value })}
          />
        </label>
        <label className={controls.field}>
          <input
            type="checkbox"
            checked={fields.withTokens}
            onChange={({ target }) => change({ withTokens: target.checked })}
          />
          Every token
        </label>
        <Presets recipe={run.recipe} onChosen={(set) => change({ set })} />
        <label className={styles.wide}>
          Other fields of the recipe, one a line: reward, advantage, loss, preference, optimizer
          <textarea
            rows={3}
            spellCheck={false}
            placeholder="loss.clipHigh=0.28"
            value={fields.set}
            onChange={({ target }) => change({ set: target.value })}
          />
        </label>
        <button type="submit" className={controls.primary} disabled={ask.isPending}>
          Compare
        </button>
      </form>
      {ask.error && <ErrorState error={ask.error} />}
    </section>
  );
}

interface PresetsProps {
  readonly recipe: unknown;
  readonly onChosen: (set: string) => void;
}

/** Fills in a question that is often asked. */
function Presets({ recipe, onChosen }: PresetsProps) {
  return (
    <div className={styles.presets} role="group" aria-label="Often asked">
      {presetsFor(recipe).map(({ label, set }) => (
        <button
          key={label}
          type="button"
          className={controls.button}
          onClick={() => {
            onChosen(set);
          }}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

interface UpdateFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly isRequired?: boolean;
}

function UpdateField({ label, value, onChange, isRequired = false }: UpdateFieldProps) {
  return (
    <label className={controls.field}>
      {label}
      <input
        className={controls.input}
        type="number"
        min={1}
        required={isRequired}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
