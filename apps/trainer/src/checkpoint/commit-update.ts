import type { BatchPlanned, Json } from '@retrace/trajectory';
import type { ControlTail } from '@retrace/log';
import type { PolicyState } from './policy-state.js';

export type MetricEntries = readonly (readonly [string, number])[];

export interface CommitOptions {
  readonly runId: string;
  readonly control: ControlTail;
  readonly epoch: number;
  readonly plan: BatchPlanned;
  readonly policy: PolicyState;
  /** What a replay must reproduce; recorded with the commit. */
  readonly metrics: MetricEntries;
  /** What a replay starts from; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
  /** What the next update starts from beside the files. */
  readonly trainerState: Json;
  /** What only this process can know. */
  readonly timings: MetricEntries;
}

/**
 * Commits an update: first the files are durable, then one append carries `UpdateApplied` (the commit) and
 * `PolicyPublished`, so no crash can part them.
 */
export async function commitUpdate(options: CommitOptions): Promise<void> {
  const { runId, control, epoch, plan, policy, metrics, episodeRewards, trainerState } = options;
  const started = performance.now();
  const [weights, optimizer] = await Promise.all([policy.saveWeights(), policy.saveOptimizer()]);
  const files = { weights, optimizer };
  const checkpointSeconds = (performance.now() - started) / 1000;
  const policyVersionOut = plan.policyVersionIn + 1;
  const logged = [...metrics, ...options.timings, ['time/checkpoint', checkpointSeconds] as const];
  await control.append(
    runId,
    {
      kind: 'UpdateApplied',
      payload: {
        planId: plan.planId,
        epoch,
        updateNumber: plan.updateNumber,
        policyVersionOut,
        ...files,
        episodeRewards,
        trainerState,
        metricNames: metrics.map(([name]) => name),
        metricValues: Float64Array.from(metrics, ([, value]) => value),
      },
    },
    {
      kind: 'PolicyPublished',
      payload: {
        policyVersion: policyVersionOut,
        parentVersion: plan.policyVersionIn,
        updateNumber: plan.updateNumber,
        epoch,
        weights: files.weights,
        modelHash: policy.modelHash,
      },
    },
    {
      kind: 'MetricsLogged',
      payload: {
        source: 'trainer',
        step: plan.updateNumber,
        names: logged.map(([name]) => name),
        values: Float64Array.from(logged, ([, value]) => value),
      },
    },
  );
}
