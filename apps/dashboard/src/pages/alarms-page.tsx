import { useAlarms, useSilences } from '../api/alarm-queries';
import type { AlarmItem, AlarmSilenceItem } from '../api-types/schema';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { DataTable } from '../components/data-table';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';
import { formatCount } from '../format/numbers';
import { formatMoment } from '../format/times';
import { useShownMoment } from '../as-of/shown-moment';
import { AlarmState, EndSilence } from '../warnings/alarm-state';
import { nameOfRule } from '../warnings/rule-name';
import { useKeptFocus } from '../warnings/use-kept-focus';
import styles from './alarms-page.module.css';
import page from '../components/page.module.css';

const COLUMNS: readonly TableColumn<AlarmItem>[] = [
  { label: 'Alarm', cell: ({ rule }) => <Badge tone="bad">{nameOfRule(rule)}</Badge> },
  { label: 'State', cell: (alarm) => <AlarmState alarm={alarm} /> },
  {
    label: 'Run',
    cell: ({ runId, runName }) =>
      runId === '' ? (
        '–'
      ) : (
        <Link className={table.link} to={`/runs/${runId}`}>
          {runName}
        </Link>
      ),
  },
  { label: 'Source', isMuted: true, cell: ({ source }) => source },
  { label: 'Step', isNumeric: true, cell: ({ step }) => formatCount(step) },
  { label: 'Message', cell: (alarm) => <Message {...alarm} /> },
  { label: 'Times', isNumeric: true, cell: ({ numTimes }) => formatCount(numTimes) },
  { label: 'First raised', isMuted: true, cell: ({ firstRaisedAt }) => formatMoment(firstRaisedAt) },
  { label: 'Last raised', isMuted: true, cell: ({ lastRaisedAt }) => formatMoment(lastRaisedAt) },
];

/** The alarms of all runs, those that were raised last first. */
export function AlarmsPage() {
  useTitle('Alarms');
  const alarms = useAlarms();
  return (
    <>
      <div className={page.head}>
        <h1>Alarms</h1>
      </div>
      {alarms.isPending && <Loading label="Loading alarms" />}
      {alarms.isError && !alarms.data && (
        <ErrorState error={alarms.error} onRetry={() => void alarms.refetch()} />
      )}
      {alarms.data && <AlarmTable alarms={alarms.data.pages.flatMap(({ items }) => items)} />}
      {alarms.hasNextPage && (
        <p className={page.more}>
          <button
            type="button"
            className={controls.button}
            disabled={alarms.isFetchingNextPage}
            onClick={() => void alarms.fetchNextPage()}
          >
            Load earlier alarms
          </button>
        </p>
      )}
      <Silences />
    </>
  );
}

const SILENCE_COLUMNS: readonly TableColumn<AlarmSilenceItem>[] = [
  { label: 'Rule', cell: ({ rule }) => nameOfRule(rule) },
  { label: 'Run', cell: ({ runId, runName }) => (runId === '' ? 'all runs' : runName) },
  { label: 'Until', cell: ({ until }) => formatMoment(until) },
  { label: 'Reason', cell: ({ note }) => <span className={styles.message}>{note}</span> },
  { label: 'By', isMuted: true, cell: ({ source }) => source },
];

const WITH_END: readonly TableColumn<AlarmSilenceItem>[] = [
  ...SILENCE_COLUMNS,
  { label: 'End', cell: (silence) => <EndSilence silence={silence} /> },
];

const keyOfSilence = ({ runId, rule }: AlarmSilenceItem): string => `${runId} ${rule}`;

/** Silences that hold, also of rules without an alarm; nothing while there is none. */
function Silences() {
  const { data: silences = [] } = useSilences();
  const isOfNow = useShownMoment() === null;
  const kept = useKeptFocus(silences.map(keyOfSilence).join(','));
  return (
    <div tabIndex={-1} {...kept}>
      {silences.length > 0 && (
        <section className={styles.silences} aria-label="Silences">
          <h2>Silences</h2>
          <DataTable
            label="Silenced rules"
            columns={isOfNow ? WITH_END : SILENCE_COLUMNS}
            rows={silences}
            keyOf={keyOfSilence}
          />
        </section>
      )}
    </div>
  );
}

function AlarmTable({ alarms }: { readonly alarms: readonly AlarmItem[] }) {
  if (alarms.length === 0)
    return (
      <EmptyState title="No alarms">
        No run has raised one or failed, or those that did are archived.
      </EmptyState>
    );
  return (
    <DataTable
      label="Alarms"
      columns={COLUMNS}
      rows={alarms}
      keyOf={({ runId, source, rule, message }) => `${runId} ${source} ${rule === '' ? message : rule}`}
    />
  );
}

function Message({ runId, message, advice, episodeIds }: AlarmItem) {
  return (
    <span className={styles.message}>
      {message} {advice !== '' && <span className={page.subtle}>{advice} </span>}
      {episodeIds.map((episodeId, n) => (
        <span key={episodeId}>
          <Link className={table.link} to={`/runs/${runId}/episodes/${episodeId}`}>
            episode {n + 1}
          </Link>{' '}
        </span>
      ))}
    </span>
  );
}
