import type { Json } from '@retrace/trajectory';
import type { MetricEntries } from './metrics.js';
import type { UpdateOutcome } from './optimizer-steps.js';

/** All that a commit records of an update, beside the files. */
export interface UpdateResult {
  readonly outcome: UpdateOutcome;
  /** Metrics that follow from the batch, the same in a replay. What was not measured is left out: none is NaN. */
  readonly metrics: MetricEntries;
  readonly warnings: readonly string[];
  /** [E] Total reward of each episode, NaN where it was missing; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
  /** What the next update starts from beside weights and optimizer; null where the recipe keeps nothing. */
  readonly trainerState: Json;
}
