import type { BatchPlanned, EpisodeColumns, Json } from '@retrace/trajectory';
import type { ControlEntry, ControlTail } from '@retrace/log';
import type { OfferFile } from '@retrace/policy';
import type { UpdateEngine } from '../engine/update-engine.js';
import type { MetricEntries } from '../metric-entries.js';
import type { UpdateResult } from '../update/result/update-result.js';
import { tokenEvents } from './token-events.js';
import { traceUpdate } from './trace-update.js';

interface CommitOptions {
  readonly runId: string;
  readonly control: ControlTail;
  readonly epoch: number;
  readonly plan: BatchPlanned;
  /** The episodes of the plan, as they were read. */
  readonly episodes: EpisodeColumns;
  readonly outcome: UpdateResult['outcome'];
  readonly shares: UpdateResult['shares'];
  readonly tokenTrace: UpdateResult['tokenTrace'];
  readonly engine: Pick<UpdateEngine, 'save' | 'modelHash' | 'used' | 'location'>;
  /** Where a collector of another process gets the weights before they are durable. */
  readonly offerFile?: OfferFile;
  /** Metrics that a replay must reproduce; recorded with the commit. */
  readonly metrics: MetricEntries;
  /** [E] Rewards that a replay starts from; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
  /** [G] Priorities of the plan's groups; null where the sampler has none. */
  readonly groupPriorities: Float64Array | null;
  /** State that the next update starts from, beside the files. */
  readonly trainerState: Json;
  /** Metrics that only this process can know, which no replay compares. */
  readonly timings: MetricEntries;
  /** Events of the update's warnings. */
  readonly warnings: readonly ControlEntry[];
}

/**
 * Commits an update: first the files are durable, then one append carries `UpdateTraced` (what it was computed from), where the recipe
 * asks for it `UpdateTokensTraced`, `UpdateApplied` (the commit), `PolicyPublished` and the update's warnings, so no crash can part them.
 */
export async function commitUpdate(options: CommitOptions): Promise<void> {
  const { runId, control, epoch, plan, episodes, engine, metrics } = options;
  const { episodeRewards, groupPriorities, trainerState } = options;
  const started = performance.now();
  const policyVersionOut = plan.policyVersionIn + 1;
  const files = await engine.save(undefined, (weights) => {
    void options.offerFile?.announce({ policyVersion: policyVersionOut, weights });
  });
  const checkpointSeconds = (performance.now() - started) / 1000;
  const logged = [...metrics, ...options.timings, ['time/checkpoint', checkpointSeconds] as const];
  await control.append(
    runId,
    { kind: 'UpdateTraced', payload: traceUpdate({ runId, epoch, plan, episodes, result: options }) },
    ...tokenEvents({ epoch, plan, tokenTrace: options.tokenTrace }),
    {
      kind: 'UpdateApplied',
      payload: {
        planId: plan.planId,
        epoch,
        updateNumber: plan.updateNumber,
        policyVersionOut,
        ...files,
        episodeRewards,
        groupPriorities,
        engine: engine.used,
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
        modelHash: engine.modelHash,
        location: engine.location,
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
    ...options.warnings,
  );
}
