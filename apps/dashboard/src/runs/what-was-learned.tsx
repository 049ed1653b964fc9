import { useHealth, useRunTotals } from '../api/queries';
import type { RunDetail } from '../api-types/schema';
import { useWholeSplitFigures } from '../validation/validation-queries';
import { useShownMoment } from '../as-of/shown-moment';
import { Stat, StatRow } from '../components/stat';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import { hasEnded, runDurationMs } from '../format/run-state';
import { formatDuration } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import page from '../components/page.module.css';
import { firstAndNewestFigures } from '../validation/best-version';
import styles from './what-was-learned.module.css';

const NEXT_STEPS = [
  { to: '/docs/tutorial', label: 'Change the reward, and score this history with it' },
  { to: '/docs/agents', label: 'Connect your own agent' },
  { to: '/docs/evaluation', label: 'Compare two runs' },
] as const;

/** Card of an ended run: its gain on unseen tasks, its totals, the records that the store lacks still, and what to do next; nothing while it trains, or at an earlier moment. */
export function WhatWasLearned({ run }: { readonly run: RunDetail }) {
  const isOfNow = useShownMoment() === null;
  return isOfNow && hasEnded(run) ? <Ended run={run} /> : null;
}

function Ended({ run }: { readonly run: RunDetail }) {
  const refetchMs = useRefetchMs();
  const { data: figures = [] } = useWholeSplitFigures(run.runId);
  const { data: totals } = useRunTotals(run.runId, { refetchMs });
  const { data: health } = useHealth();
  const { first, newest } = firstAndNewestFigures(figures);
  const numLacking = health?.sink.lagRecords ?? null;
  return (
    <section className={`${page.card} ${styles.card}`} aria-label="What was learned">
      <h2>What was learned</h2>
      <StatRow>
        {first !== null && newest !== null && (
          <>
            <Stat label="Success, unseen" note="On unseen tasks: first and newest validated policy">
              {formatPercent(first.success)} → {formatPercent(newest.success)}
            </Stat>
            <Stat label="95 %" note="Wilson’s interval of the newest policy’s success">
              {formatPercent(newest.successLow)} – {formatPercent(newest.successHigh)}
            </Stat>
            <Stat label="Return" note="First and newest validated policy">
              {formatNumber(first.meanReturn)} → {formatNumber(newest.meanReturn)}
            </Stat>
          </>
        )}
        <Stat label="Updates">{formatCount(run.progress?.updateNumber ?? null)}</Stat>
        <Stat label="Policy versions">{formatCount(run.policyVersion)}</Stat>
        <Stat label="Episodes stored">{formatCount(totals?.numEpisodes)}</Stat>
        <Stat label="Steps stored">{formatCount(totals?.numSteps)}</Stat>
        <Stat label="Time">{formatDuration(runDurationMs(run, Date.parse(run.startedAt)))}</Stat>
        <Stat
          label="Not stored yet"
          note="Records of all runs that the log acknowledged and the store does not have yet"
        >
          {formatCount(numLacking)} <small>records</small>
        </Stat>
      </StatRow>
      <nav aria-label="Next steps">
        <h3>Next</h3>
        <ol className={styles.steps}>
          {NEXT_STEPS.map(({ to, label }) => (
            <li key={to}>
              <a href={to}>{label}</a>
            </li>
          ))}
        </ol>
      </nav>
    </section>
  );
}
