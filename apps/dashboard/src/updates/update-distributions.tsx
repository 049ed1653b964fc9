import { useUpdateDistributions } from '../api/update-queries';
import type { Distribution } from '../api-types/schema';
import { ErrorState } from '../components/notice';
import { formatCount, formatNumber } from '../format/numbers';
import styles from './update-distributions.module.css';

const TITLES: Readonly<Record<Distribution['name'], string>> = {
  return: 'Return',
  advantage: 'Advantage',
  weight: 'Importance weight',
  ratio: 'Ratio',
  age: 'Age in versions',
  tokens: 'Trained tokens',
};

/** Histograms over the episodes of an update; each bar tells its range and number when the pointer rests on it. */
export function UpdateDistributions({
  runId,
  updateNumber,
}: {
  readonly runId: string;
  readonly updateNumber: number;
}) {
  const { data, error, refetch } = useUpdateDistributions(runId, updateNumber);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <div className={styles.grid}>
      {data?.distributions.map((one) => (
        <Histogram key={one.name} {...one} />
      ))}
    </div>
  );
}

function Histogram({ name, low, high, mean, numEpisodes, counts }: Distribution) {
  const most = Math.max(...counts);
  const width = (high - low) / counts.length;
  // One value, which all episodes have, is in the middle.
  const firstX = low === high ? (counts.length - 1) / 2 : 0;
  return (
    <figure className={styles.histogram}>
      <figcaption>
        {TITLES[name]} <span>mean {formatNumber(mean)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${counts.length} 1`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${TITLES[name]} of ${formatCount(numEpisodes)} episodes: from ${formatNumber(low)} to ${formatNumber(high)}, mean ${formatNumber(mean)}`}
      >
        {counts.map((count, i) => (
          <rect key={i} x={firstX + i + 0.08} y={1 - count / most} width={0.84} height={count / most}>
            <title>{`${formatNumber(low + i * width)} … ${formatNumber(low + (i + 1) * width)}: ${formatCount(count)}`}</title>
          </rect>
        ))}
      </svg>
      <div className={styles.range}>
        <span>{formatNumber(low)}</span>
        {low !== high && <span>{formatNumber(high)}</span>}
      </div>
    </figure>
  );
}
