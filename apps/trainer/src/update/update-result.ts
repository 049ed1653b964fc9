import type { Json } from '@retrace/trajectory';
import type { MetricEntries } from './metrics.js';
import type { UpdateOutcome } from './optimizer-steps.js';

/** All that a commit records of an update, beside the files. */
export interface UpdateResult {
  readonly outcome: UpdateOutcome;
  /** Metrics that follow from the batch, the same in a replay. None is NaN: metrics that were not measured are left out. */
  readonly metrics: MetricEntries;
  readonly warnings: readonly string[];
  /** Why the update learned from nothing; null where it learned from at least one token. */
  readonly alarm: string | null;
  /** [E] Total reward of each episode, NaN where it was missing; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
  /** State that the next update starts from beside weights and optimizer; null where the recipe keeps none. */
  readonly trainerState: Json;
}
