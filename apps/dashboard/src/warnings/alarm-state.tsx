import { Suspense, useState } from 'react';
import { useSilenceAlarms } from '../api/alarm-queries';
import type { AlarmItem, AlarmSilenceItem } from '../api-types/schema';
import { useShownMoment } from '../as-of/shown-moment';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { lazyPart } from '../components/lazy-part';
import { formatMoment } from '../format/times';
import styles from './alarm-state.module.css';
import { nameOfRule } from './rule-name';
import { useKeptFocus } from './use-kept-focus';

// Few visits open them.
const AcknowledgeForm = lazyPart(async () => (await import('./alarm-forms')).AcknowledgeForm);
const SilenceForm = lazyPart(async () => (await import('./alarm-forms')).SilenceForm);

/** Says whether an alarm was acknowledged or silenced, with buttons that do so; without them for an earlier moment. */
export function AlarmState({ alarm }: { readonly alarm: AlarmItem }) {
  const [opened, setOpened] = useState<'acknowledge' | 'silence' | null>(null);
  const isOfNow = useShownMoment() === null;
  const { acknowledgement, silence } = alarm;
  const name = nameOfAlarm(alarm);
  const close = () => setOpened(null);
  const kept = useKeptFocus(`${opened} ${acknowledgement === null} ${silence === null}`);
  return (
    <div className={styles.state} {...kept}>
      <div role="status" className={styles.said}>
        {acknowledgement === null && silence === null && <Badge tone="bad">Open</Badge>}
        {acknowledgement !== null && (
          <Handled label="Acknowledged" by={acknowledgement.source} note={acknowledgement.note} />
        )}
        {silence !== null && <SilenceText silence={silence} />}
      </div>
      {isOfNow && (
        <span className={styles.buttons}>
          {acknowledgement === null && (
            <button
              type="button"
              className={controls.button}
              aria-label={`Acknowledge ${name}`}
              onClick={() => setOpened('acknowledge')}
            >
              Acknowledge
            </button>
          )}
          {silence === null ? (
            <button
              type="button"
              className={controls.button}
              aria-label={`Silence ${name}`}
              onClick={() => setOpened('silence')}
            >
              Silence …
            </button>
          ) : (
            <EndSilence silence={silence} />
          )}
        </span>
      )}
      <Suspense fallback={null}>
        {opened === 'acknowledge' && <AcknowledgeForm alarm={alarm} onClosed={close} />}
        {opened === 'silence' && <SilenceForm alarm={alarm} onClosed={close} />}
      </Suspense>
    </div>
  );
}

/** Tells alarms of one rule apart, also where their runs have one name. */
function nameOfAlarm({ rule, runId, runName, source }: AlarmItem): string {
  return `${nameOfRule(rule)}${runId === '' ? '' : ` of ${nameOfRun(runId, runName)}`} by ${source}`;
}

function nameOfRun(runId: string, runName: string): string {
  return `${runName} (${runId.slice(-8)})`;
}

interface HandledProps {
  readonly label: string;
  readonly by: string;
  readonly note: string;
}

function Handled({ label, by, note }: HandledProps) {
  return (
    <span>
      <Badge>{label}</Badge>{' '}
      <span className={styles.by}>
        by {by}
        {note !== '' && `: ${note}`}
      </span>
    </span>
  );
}

function SilenceText({ silence }: { readonly silence: AlarmSilenceItem }) {
  const where = silence.runId === '' ? 'in all runs ' : '';
  return (
    <Handled
      label="Silenced"
      by={`${silence.source} ${where}until ${formatMoment(silence.until)}`}
      note={silence.note}
    />
  );
}

/** A button that ends a silence. */
export function EndSilence({ silence }: { readonly silence: AlarmSilenceItem }) {
  const end = useSilenceAlarms();
  const { runId, rule, runName } = silence;
  return (
    <>
      <button
        type="button"
        className={controls.button}
        aria-label={`End silence of ${nameOfRule(rule)} in ${runId === '' ? 'all runs' : nameOfRun(runId, runName)}`}
        aria-disabled={end.isPending}
        onClick={() => {
          if (!end.isPending)
            end.mutate({ rule, until: 'now', source: 'dashboard', ...(runId !== '' && { runId }) });
        }}
      >
        End silence
      </button>
      {end.error && (
        <span role="alert">
          <Badge tone="bad">{end.error.message}</Badge>
        </span>
      )}
    </>
  );
}
