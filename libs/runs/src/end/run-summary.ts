import type { RunEnded, RunState } from '@retrace/trajectory';

/** Figures of a run at its end. */
export interface RunSummary {
  readonly runId: string;
  readonly reason: RunEnded['reason'];
  readonly detail: string;
  readonly numUpdates: number;
  /** Updates that learned from at least one token. */
  readonly numLearningUpdates: number;
  readonly policyVersion: number | null;
  readonly weightsSha256: string | null;
  /** Newest value of each metric, by name. */
  readonly metrics: Readonly<Record<string, number>>;
}

export function summarizeRun(run: RunState): RunSummary {
  const metrics = run.metrics
    .filter(({ value }) => Number.isFinite(value))
    .map(({ name, value }): [string, number] => [name, value])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    runId: run.runId,
    reason: run.ended?.reason ?? 'stopped',
    detail: run.ended?.detail ?? '',
    numUpdates: run.updates.numUpdates,
    numLearningUpdates: run.updates.numLearningUpdates,
    policyVersion: run.policies.latest?.policyVersion ?? null,
    weightsSha256: run.policies.latest?.weights.sha256 ?? null,
    metrics: Object.fromEntries(metrics),
  };
}

/** Says so where updates were made and none of them learned anything; null otherwise. */
export function describeNothingLearned({
  runId,
  updates,
}: {
  readonly runId: string;
  readonly updates: Pick<RunState['updates'], 'numUpdates' | 'numLearningUpdates'>;
}): string | null {
  const { numUpdates, numLearningUpdates } = updates;
  if (numUpdates === 0 || numLearningUpdates > 0) return null;
  return (
    `run ${runId}: none of its ${numUpdates} updates learned anything, so its policy is not a trained one; ` +
    `retrace sql "SELECT step, message FROM warnings WHERE run_id = '${runId}'" says why`
  );
}
