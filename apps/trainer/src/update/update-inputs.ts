import { getAdvantageEstimator, type OptionalInput } from '@retrace/algorithms';
import {
  dataSources,
  initialKlCoefficient,
  playsGreedyBaseline,
  proximalPolicy,
  readsBehaviorLogprobs,
  type Recipe,
} from '@retrace/config';
import type { RewardScorer } from '@retrace/rewards/scoring';
import type { EpisodeTexts } from '@retrace/store';
import type { BatchPlanned, EpisodeColumns, Json, PolicyPublished } from '@retrace/trajectory';
import type { FixedPolicy, UpdateEngine } from '../engine/update-engine.js';
import type { Teacher } from '../teacher/teacher.js';

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

/** Published policies of a run, by version. */
interface PublishedPolicies {
  get(policyVersion: number): Pick<PolicyPublished, 'weights' | 'location'> | undefined;
}

/** The reference policy of an update. */
export type ReferencePolicy =
  /** A version that was published. */
  | ({ readonly kind: 'published' } & FixedPolicy)
  /** The engine's average of the policy's weights, which moves after each update. */
  | { readonly kind: 'moving'; readonly decay: number };

/**
 * The reference policy of the KL term or of preferences: the first policy after any imitation, or with `loss.referenceDecay` an average that
 * begins there. Null where the recipe has neither term, or that version is not published yet.
 */
export function referencePolicy(
  { loss, imitation, preference }: Pick<Recipe, 'loss' | 'imitation' | 'preference'>,
  policies: PublishedPolicies,
): ReferencePolicy | null {
  if (initialKlCoefficient(loss) === 0 && !preference) return null;
  if (typeof loss.referenceDecay === 'number') return { kind: 'moving', decay: loss.referenceDecay };
  const published = policies.get(imitation?.numUpdates ?? 0);
  return published ? { kind: 'published', weights: published.weights, location: published.location } : null;
}

/** Which of the optional stages and columns of an update a recipe needs. */
export interface UpdateNeeds {
  /** One episode of each group was played greedily, as a baseline. */
  readonly greedyBaseline: boolean;
  /** Logprobs of all tokens at the start of the update, not only of those by which trainer and sampler are compared. */
  readonly proximalLogprobs: boolean;
  readonly squaredProbabilities: boolean;
  /** Values and returns of a critic. */
  readonly critic: boolean;
  /** V(s_T) of truncated episodes. */
  readonly finalValues: boolean;
  readonly roles: boolean;
  /** The KL from the reference policy is charged to the rewards. */
  readonly klInReward: boolean;
  /** The behavior policies are compared with the proximal one over the whole batch. */
  readonly rolloutCorrection: boolean;
  /** Logprobs of the policies that sampled; imitation reads none. */
  readonly behaviorLogprobs: boolean;
}

/** @param hasReference whether there are weights of a reference policy */
export function updateNeeds(recipe: Recipe, hasReference: boolean): UpdateNeeds {
  const { loss, collection } = recipe;
  const critic = loss.valueCoefficient > 0;
  const klInReward = loss.kl?.in === 'reward' && hasReference;
  const corrects = Boolean(loss.rolloutCorrection) && proximalPolicy(recipe) !== 'interpolated';
  const proximalLogprobs =
    critic ||
    Boolean(recipe.distillation) ||
    klInReward ||
    corrects ||
    Boolean(loss.topEntropyFraction) ||
    proximalPolicy(recipe) === 'recomputed' ||
    requires(recipe, 'proximalLogprobs');
  const behaviorLogprobs = readsBehaviorLogprobs(recipe);
  return {
    behaviorLogprobs,
    greedyBaseline: playsGreedyBaseline(recipe),
    proximalLogprobs,
    squaredProbabilities: requires(recipe, 'sumSquaredProbabilities'),
    critic,
    finalValues: critic && (recipe.advantage.bootstrapTruncated ?? true),
    roles: requires(recipe, 'roleIds'),
    klInReward,
    rolloutCorrection:
      behaviorLogprobs &&
      proximalLogprobs &&
      (collection.maxStaleness > 0 || corrects || hasStoredData(recipe)),
  };
}

/** Whether an update must evaluate the policy, because what it reads was not recorded during sampling. */
export function asksPolicy(recipe: Recipe, hasReference: boolean): boolean {
  const { proximalLogprobs, critic, squaredProbabilities } = updateNeeds(recipe, hasReference);
  return proximalLogprobs || critic || squaredProbabilities || hasReference || Boolean(recipe.distillation);
}

/** Whether updates are trained on episodes of other runs, too. */
function hasStoredData(recipe: Recipe): boolean {
  return dataSources(recipe).some(({ from }) => from !== 'own');
}

/** Whether updates read stored text, for rewards or for roles. */
export function readsTexts(recipe: Recipe, rewards: Pick<RewardScorer, 'readsTexts'>): boolean {
  return rewards.readsTexts || requires(recipe, 'roleIds');
}

function requires({ advantage }: Recipe, input: OptionalInput): boolean {
  return getAdvantageEstimator(advantage.estimator).requires.includes(input);
}
