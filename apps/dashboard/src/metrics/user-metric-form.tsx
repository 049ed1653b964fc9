import { type FormEvent, useState } from 'react';
import controls from '../components/controls.module.css';
import { Select } from '../components/select';
import page from '../components/page.module.css';
import { EXAMPLE_METRICS, nameFault, type UserMetric } from './user-metric';
import styles from './user-metrics.module.css';

const MAX_NAME_LENGTH = 60;
const MAX_QUERY_LENGTH = 4_000;
const EXAMPLES = [
  { value: '', label: 'choose' },
  ...EXAMPLE_METRICS.map(({ name }) => ({ value: name, label: name })),
];

interface UserMetricFormProps {
  /** The metric that is changed; null for a new one. */
  readonly edited: UserMetric | null;
  /** All metrics of the view. */
  readonly metrics: readonly UserMetric[];
  readonly onSave: (metric: UserMetric) => void;
  readonly onCancel: () => void;
}

/** Name and query of a metric by SQL. */
export function UserMetricForm({ edited, metrics, onSave, onCancel }: UserMetricFormProps) {
  const [{ name, query }, setFields] = useState(edited ?? { name: '', query: '' });
  const taken = metrics.map((one) => one.name).filter((one) => one !== edited?.name);
  const fault = nameFault(name.trim(), taken);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSave({ name: name.trim(), query: query.trim() });
  };
  return (
    <form className={`${page.card} ${styles.form}`} aria-label="Metric by SQL" onSubmit={submit}>
      <p className={page.subtle}>
        One SELECT with the columns <code>x</code> (an update, a policy version or a time) and{' '}
        <code>value</code>; <code>{'{run}'}</code> is the id of each run that is shown.
      </p>
      <div className={styles.row}>
        <label className={controls.field}>
          Name
          <input
            className={controls.input}
            maxLength={MAX_NAME_LENGTH}
            autoFocus
            value={name}
            onChange={({ target }) => setFields({ name: target.value, query })}
          />
        </label>
        {fault !== null && <p role="alert">{fault}</p>}
        <Select
          label="Example"
          value=""
          options={EXAMPLES}
          onChange={(chosen) => {
            const example = EXAMPLE_METRICS.find((one) => one.name === chosen);
            if (example !== undefined) setFields(example);
          }}
        />
      </div>
      <textarea
        className={styles.editor}
        aria-label="Query"
        rows={8}
        spellCheck={false}
        maxLength={MAX_QUERY_LENGTH}
        value={query}
        onChange={({ target }) => setFields({ name, query: target.value })}
      />
      <div className={styles.row}>
        <button
          type="submit"
          className={controls.primary}
          disabled={name.trim() === '' || query.trim() === '' || fault !== null}
        >
          Draw
        </button>
        <button type="button" className={controls.button} onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
