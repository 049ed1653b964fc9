import { Link } from '../components/link';
import type { EpisodeDetail, EpisodeUse } from '../api-types/schema';
import table from '../components/table.module.css';
import { shortId } from '../format/ids';
import { formatNumber } from '../format/numbers';
import page from '../components/page.module.css';

interface EpisodeUsesProps {
  readonly runId: string;
  readonly episode: Pick<EpisodeDetail, 'updateNumbers' | 'uses'>;
}

interface ShownUse {
  readonly runId: string;
  readonly updateNumber: number;
  /** Undefined for an update that is not applied, or that did not record it. */
  readonly use: EpisodeUse | undefined;
}

/** The updates that read an episode, of its run and of others, with the advantage that it had there. */
export function EpisodeUses({ runId, episode: { updateNumbers, uses } }: EpisodeUsesProps) {
  const shown: ShownUse[] = [
    ...updateNumbers.map((updateNumber) => ({
      runId,
      updateNumber,
      use: uses.find((use) => use.runId === runId && use.updateNumber === updateNumber),
    })),
    ...uses
      .filter((use) => use.runId !== runId)
      .map((use) => ({ runId: use.runId, updateNumber: use.updateNumber, use })),
  ];
  if (shown.length === 0) return null;
  return (
    <span className={page.subtle}>
      Used in{' '}
      {shown.map((one, i) => (
        <span key={`${one.runId} ${one.updateNumber}`}>
          {i > 0 && ', '}
          <Link className={table.link} to={`/runs/${one.runId}/updates/${one.updateNumber}`}>
            update {one.updateNumber}
          </Link>
          {one.runId !== runId && ` of run ${shortId(one.runId)}`}
          {describe(one.use)}
        </span>
      ))}
    </span>
  );
}

function describe(use: EpisodeUse | undefined): string {
  if (use === undefined) return '';
  if (use.times === 0) return ' (left out)';
  return use.advantageMean === null ? '' : ` (advantage ${formatNumber(use.advantageMean)})`;
}
