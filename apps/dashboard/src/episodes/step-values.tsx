import type { EpisodeDetail } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { IdLink } from '../components/id-link';
import { numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import styles from './episode.module.css';

type StepValue = EpisodeDetail['stepValues'][number];
type Fork = EpisodeDetail['forks'][number];

const COLUMNS: readonly TableColumn<StepValue>[] = [
  { label: 'Action', cell: ({ action }) => action ?? 'The policy’s choice' },
  { label: 'Policy', cell: ({ policy, greedy }) => (greedy ? `${policy}, greedy` : policy) },
  numberColumn('Forks', ({ numForks }) => numForks, formatCount),
  {
    label: 'Return from here (95 %)',
    isNumeric: true,
    cell: ({ meanReturn, returnLow, returnHigh }) =>
      withRange(formatNumber, meanReturn, returnLow, returnHigh),
  },
  {
    label: 'Compared with what happened',
    isNumeric: true,
    cell: ({ meanReturn, returnLow, returnHigh, returnFromStep }) =>
      withRange(
        formatNumber,
        minus(meanReturn, returnFromStep),
        minus(returnLow, returnFromStep),
        minus(returnHigh, returnFromStep),
      ),
  },
  {
    label: 'Success (95 %)',
    isNumeric: true,
    cell: ({ successRate, successLow, successHigh }) =>
      withRange(formatPercent, successRate, successLow, successHigh),
  },
];

interface StepValuesProps {
  readonly episode: EpisodeDetail;
  readonly step: number;
}

/** Values of a step and of its actions, estimated from forks, and the forks; nothing where there are none. */
export function StepValues({ episode, step }: StepValuesProps) {
  const values = episode.stepValues.filter((value) => value.step === step);
  const forks = episode.forks.filter((fork) => fork.step === step);
  if (forks.length === 0) return null;
  return (
    <details open>
      <summary className={styles.summary}>Forks of this step: {formatCount(forks.length)}</summary>
      <DataTable
        label={`Values of step ${step}`}
        columns={COLUMNS}
        rows={values}
        keyOf={({ policy, greedy, action }) => `${policy}/${greedy}/${action ?? ''}`}
      />
      <p className={styles.parsed}>
        {forks.map((fork) => (
          <ForkLink key={fork.episodeId} fork={fork} />
        ))}
      </p>
    </details>
  );
}

function ForkLink({ fork: { runId, episodeId, action, return: total } }: { readonly fork: Fork }) {
  const title = `${action ?? 'no action yet'}: return ${formatNumber(total)}`;
  return (
    <>
      <IdLink id={episodeId} to={`/runs/${runId}/episodes/${episodeId}`} title={title} />{' '}
    </>
  );
}

function minus(value: number | null, other: number | null): number | null {
  return value === null || other === null ? null : value - other;
}

function withRange(
  format: (value: number | null) => string,
  value: number | null,
  low: number | null,
  high: number | null,
): string {
  return low === null || high === null
    ? format(value)
    : `${format(value)} (${format(low)} to ${format(high)})`;
}
