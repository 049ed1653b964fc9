import type { Json, TokenBatch } from '@retrace/trajectory';
import type { EpisodeShares } from './episode-shares.js';
import type { UpdateColumns } from './mini-batches.js';
import type { MetricEntries } from './metrics.js';
import type { UpdateOutcome } from './optimizer-steps.js';
import type { TokenTrace } from './token-trace.js';

/** The tokens that an update read, with the columns of its loss. */
export interface UpdateTokens
  extends
    Pick<TokenBatch, 'actionTokens' | 'actionStep' | 'episodeActionOffsets'>,
    Pick<UpdateColumns, 'trainedMask' | 'keptMask' | 'advantages' | 'importanceWeights'> {
  /** [E] */
  readonly episodeIds: readonly string[];
  /** [E] */
  readonly groupIds: readonly string[];
}

/** All that a commit records of an update, beside the files. */
export interface UpdateResult {
  readonly outcome: UpdateOutcome;
  readonly shares: EpisodeShares;
  readonly tokens: UpdateTokens;
  /** Null unless the recipe has the tokens recorded. */
  readonly tokenTrace: TokenTrace | null;
  /** Metrics that follow from the batch, the same in a replay. None is NaN: metrics that were not measured are left out. */
  readonly metrics: MetricEntries;
  readonly warnings: readonly string[];
  /** Why the update learned from nothing; null where it learned from at least one token. */
  readonly alarm: string | null;
  /** [E] Total reward of each episode, NaN where it was missing; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
  /** [G] Of the plan's groups, for later draws; null where the sampler has no priorities. */
  readonly groupPriorities: Float64Array | null;
  /** State that the next update starts from beside weights and optimizer; null where the recipe keeps none. */
  readonly trainerState: Json;
}
