import { type FormEvent, type ReactNode, useState } from 'react';
import { useAcknowledgeAlarm, useSilenceAlarms } from '../api/alarm-queries';
import type { AlarmItem } from '../api-types/schema';
import controls from '../components/controls.module.css';
import styles from '../components/form.module.css';
import { ModalDialog } from '../components/modal-dialog';
import { nameOfRule } from './rule-name';

const MAX_NOTE_LENGTH = 10_000;

/** How long a silence may hold; the last lets the person name a moment. */
const DURATIONS = [
  { until: '1h', label: '1 hour' },
  { until: '4h', label: '4 hours' },
  { until: '1d', label: '1 day' },
  { until: '7d', label: '7 days' },
  { until: '30d', label: '30 days' },
  { until: '90d', label: '90 days' },
  { until: '', label: 'until …' },
] as const;

interface AlarmFormProps {
  readonly alarm: AlarmItem;
  readonly onClosed: () => void;
}

/** A dialog that acknowledges an alarm. */
export function AcknowledgeForm({ alarm, onClosed }: AlarmFormProps) {
  const { runId, source, rule, message } = alarm;
  const acknowledge = useAcknowledgeAlarm();
  const [note, setNote] = useState('');
  const submit = () => {
    const request = {
      ...{ alarmSource: source, rule, note, source: 'dashboard' },
      // A rule is enough, and a message may be longer than a request takes.
      ...(rule === '' && { message }),
      ...(runId !== '' && { runId }),
    };
    acknowledge.mutate(request, { onSuccess: onClosed });
  };
  return (
    <FormDialog title={`Acknowledge ${nameOfRule(rule)}`} action={acknowledge} {...{ submit, onClosed }}>
      <p className={styles.field}>
        It stays in the list, marked, and goes to no webhook any more until it comes again after its run has
        ended or a day of quiet.
      </p>
      <NoteField label="Note" value={note} onChange={setNote} />
    </FormDialog>
  );
}

/** A dialog that silences the rule of an alarm. */
export function SilenceForm({ alarm, onClosed }: AlarmFormProps) {
  const { runId, runName, rule } = alarm;
  const silence = useSilenceAlarms();
  const [duration, setDuration] = useState<string>(DURATIONS[0].until);
  const [moment, setMoment] = useState('');
  const [isOfRun, setOfRun] = useState(runId !== '');
  const [note, setNote] = useState('');
  const submit = () => {
    // A browser's local time, which has no zone.
    const until = duration === '' ? new Date(moment).toISOString() : duration;
    silence.mutate(
      { rule, until, note, source: 'dashboard', ...(isOfRun && { runId }) },
      { onSuccess: onClosed },
    );
  };
  return (
    <FormDialog title={`Silence ${nameOfRule(rule)}`} action={silence} {...{ submit, onClosed }}>
      <label className={styles.field}>
        For how long
        <select value={duration} onChange={({ target }) => setDuration(target.value)}>
          {DURATIONS.map(({ until, label }) => (
            <option key={until} value={until}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {duration === '' && (
        <label className={styles.field}>
          Until
          <input
            type="datetime-local"
            required
            value={moment}
            onChange={({ target }) => setMoment(target.value)}
          />
        </label>
      )}
      {runId !== '' && (
        <label className={styles.field}>
          Where
          <select value={isOfRun ? 'run' : 'all'} onChange={({ target }) => setOfRun(target.value === 'run')}>
            <option value="run">in {runName}</option>
            <option value="all">in all runs</option>
          </select>
        </label>
      )}
      <NoteField label="Reason" isRequired value={note} onChange={setNote} />
    </FormDialog>
  );
}

interface FormDialogProps {
  /** Of the dialog and of its button. */
  readonly title: string;
  readonly action: { readonly error: Error | null; readonly isPending: boolean };
  readonly submit: () => void;
  readonly onClosed: () => void;
  readonly children: ReactNode;
}

function FormDialog({ title, action, submit, onClosed, children }: FormDialogProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!action.isPending) submit();
  };
  return (
    <ModalDialog label={title} onClose={onClosed}>
      <form className={styles.form} onSubmit={onSubmit}>
        <h2>{title}</h2>
        {children}
        {action.error && (
          <p role="alert" className={styles.error}>
            {action.error.message}
          </p>
        )}
        <p className={styles.buttons}>
          <button type="button" className={controls.button} onClick={onClosed}>
            Close
          </button>
          <button type="submit" className={controls.primary} aria-disabled={action.isPending}>
            {title.split(' ')[0]}
          </button>
        </p>
      </form>
    </ModalDialog>
  );
}

interface NoteFieldProps {
  readonly label: string;
  readonly isRequired?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function NoteField({ label, isRequired = false, value, onChange }: NoteFieldProps) {
  return (
    <label className={styles.field}>
      {label}
      <textarea
        rows={3}
        required={isRequired}
        maxLength={MAX_NOTE_LENGTH}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
