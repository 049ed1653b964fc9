import type { Recipe } from '@retrace/config';
import type { RewardScorer } from '@retrace/scoring';
import type { EpisodeTexts } from '@retrace/store';
import type { BatchPlanned, EpisodeColumns, CheckpointFile, Json } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';

/** Everything that an update is computed from; the same for the update itself and for its replay. */
export interface UpdateInputs {
  readonly plan: Pick<BatchPlanned, 'stage' | 'updateNumber' | 'policyVersionIn' | 'seed'>;
  /** The plan's episodes. */
  readonly columns: EpisodeColumns;
  /** [E]; null unless `readsTexts`. */
  readonly texts: readonly EpisodeTexts[] | null;
  readonly recipe: Recipe;
  readonly rewards: RewardScorer;
  /** Holds the weights and optimizer state that the plan starts from; changed by the update. */
  readonly engine: UpdateEngine;
  /** Weights of the reference policy; null when the recipe has no KL term and no preferences. */
  readonly referenceWeights: CheckpointFile | null;
  /** [E] Rewards that the update had when it was committed, for a replay; null where they are not known, or not yet. */
  readonly recordedRewards: Float64Array | null;
  /** State that the update before left; null at the start. */
  readonly trainerState: Json;
}
