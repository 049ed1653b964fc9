import { getAdvantageEstimator, type OptionalInput } from '@retrace/algorithms';
import {
  dataSources,
  playsGreedyBaseline,
  proximalPolicy,
  readsBehaviorLogprobs,
  type Recipe,
} from '@retrace/config';
import type { RewardScorer } from '@retrace/scoring';

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
  const klInReward = loss.klIn === 'reward' && hasReference;
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
