import type { Recipe } from '@retrace/config';
import type { RewardScorer } from '@retrace/scoring';
import type { EpisodeTexts } from '@retrace/store';
import type { BatchPlanned, EpisodeColumns, Json } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';
import type { ReferencePolicy } from './reference-logprobs.js';
import type { Teacher } from './teacher.js';

/** Everything that an update is computed from; the same for the update itself and for its replay. */
export interface UpdateInputs {
  readonly plan: Pick<
    BatchPlanned,
    | 'stage'
    | 'updateNumber'
    | 'policyVersionIn'
    | 'seed'
    | 'groupIds'
    | 'groupRuns'
    | 'episodeGroups'
    | 'groupWeights'
  >;
  /** The plan's episodes. */
  readonly columns: EpisodeColumns;
  /** [E]; null unless `readsTexts`. */
  readonly texts: readonly EpisodeTexts[] | null;
  readonly recipe: Recipe;
  readonly rewards: Pick<RewardScorer, 'score' | 'readsTexts'>;
  /** Holds the weights and optimizer state that the plan starts from; changed by the update. */
  readonly engine: UpdateEngine;
  /** Null when the recipe has no KL term and no preferences. */
  readonly reference: ReferencePolicy | null;
  /** A teacher outside the engine (default null: the engine evaluates the teacher of the recipe, if it has one). */
  readonly teacher?: Teacher | null;
  /** [E] Rewards that the update had when it was committed, for a replay; null where they are unknown, and for a new update. */
  readonly recordedRewards: Float64Array | null;
  /** State that the update before left; null at the start. */
  readonly trainerState: Json;
}
