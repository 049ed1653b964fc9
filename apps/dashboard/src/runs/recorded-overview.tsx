import { useRunTotals } from '../api/queries';
import type { RunDetail, RunTotals } from '../api-types/schema';
import { JsonTree } from '../components/json-tree';
import { Link } from '../components/link';
import { ErrorState, Loading } from '../components/notice';
import { Stat, StatRow } from '../components/stat';
import { useShownTime } from '../components/use-shown-time';
import { formatCompact, formatCount, formatNumber, formatPercent } from '../format/numbers';
import { runDurationMs } from '../format/run-state';
import { formatDuration, formatMoment } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import page from '../components/page.module.css';

/** Key figures of a run that agents outside record, and what its caller gave with it. */
export function RecordedOverview({ run }: { readonly run: RunDetail }) {
  const totals = useRunTotals(run.runId, { refetchMs: useRefetchMs() });
  const nowMs = useShownTime(1_000);
  if (totals.isPending) return <Loading label="Loading totals" />;
  if (!totals.data) return <ErrorState error={totals.error} onRetry={() => void totals.refetch()} />;
  return (
    <>
      <Figures totals={totals.data} />
      <StatRow>
        <Stat label="Started">
          <small>{formatMoment(run.startedAt)}</small>
        </Stat>
        <Stat label="Ended">
          <small>{formatMoment(run.endedAt)}</small>
        </Stat>
        <Stat label="Duration">{formatDuration(runDurationMs(run, nowMs))}</Stat>
      </StatRow>
      {run.metadata !== null && (
        <section className={page.card} aria-label="Metadata">
          <JsonTree value={run.metadata} />
        </section>
      )}
      <p className={page.subtle}>
        {run.policyVersion === null ? (
          'Agents record this run, so it has no updates and no recipe.'
        ) : (
          <>
            Agents record this run, and a trainer outside its policies, of which the newest is version{' '}
            {run.policyVersion}, and <Link to="updates">updates</Link>.
          </>
        )}{' '}
        Its <Link to="episodes">episodes</Link> show every message and score.
      </p>
    </>
  );
}

function Figures({ totals }: { readonly totals: RunTotals }) {
  const { numEpisodes, numOngoing, numSuccesses, numFailures, meanReturn } = totals;
  const numKnown = numSuccesses + numFailures;
  return (
    <StatRow>
      <Stat label="Episodes">{formatCount(numEpisodes)}</Stat>
      <Stat label="In progress">{formatCount(numOngoing)}</Stat>
      <Stat label="Success" note={`${numKnown} episodes say whether they succeeded`}>
        {formatPercent(numKnown === 0 ? null : numSuccesses / numKnown)}
      </Stat>
      <Stat label="Mean return">{formatNumber(meanReturn)}</Stat>
      <Stat label="Steps">{formatCount(totals.numSteps)}</Stat>
      <Stat label="Input tokens" note="As providers counted them">
        {formatCompact(totals.inputTokens)}
      </Stat>
      <Stat label="Output tokens" note="As providers counted them">
        {formatCompact(totals.outputTokens)}
      </Stat>
      <Stat label="Cost (USD)">{formatNumber(totals.costUsd)}</Stat>
    </StatRow>
  );
}
