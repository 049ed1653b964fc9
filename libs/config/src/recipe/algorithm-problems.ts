import {
  adaptKlCoefficient,
  combinationFaults,
  getAdvantageEstimator,
  getPolicyLoss,
  importanceWeights,
  listAdvantageEstimators,
  rejectTokens,
  resolveAdvantageOptions,
  resolvePolicyLossOptions,
  type ProximalPolicy,
  type RejectionRule,
} from '@retrace/algorithms';
import { readsAnchors } from './environment-problems.js';
import { initialKlCoefficient, type LossRecipe, type RejectionRuleRecipe } from './loss-recipe.js';
import type { Recipe } from './recipe.js';

/** Checks that estimator, loss and corrections exist, take their options, and fit one another. */
export function algorithmProblems(recipe: Recipe): string[] {
  const problems = [
    ...advantageProblems(recipe),
    ...policyLossProblems(recipe),
    ...correctionProblems(recipe),
    ...klProblems(recipe),
    ...referenceProblems(recipe),
    ...aggregationProblems(recipe),
    ...entropyProblems(recipe),
    ...anchorProblems(recipe),
    ...truncationProblems(recipe),
  ];
  if (problems.length > 0) return problems;
  return [...combinationProblems(recipe), ...klInRewardProblems(recipe), ...samplingProblems(recipe)];
}

/** Options of a recipe's policy loss, on top of the clip bounds where that is `ppo`. */
export function policyLossOptions(loss: LossRecipe): Readonly<Record<string, unknown>> {
  const { clipLow, clipHigh, dualClip = null } = loss;
  return { ...(loss.policyLoss === 'ppo' ? { clipLow, clipHigh, dualClip } : {}), ...loss.policyLossOptions };
}

/**
 * Which policy the ratio of an update is taken against: by default the one that sampled, as recorded; where loss or estimator
 * correct for that one themselves, the policy at the start of the update.
 */
export function proximalPolicy({ advantage, loss }: Pick<Recipe, 'advantage' | 'loss'>): ProximalPolicy {
  if (loss.rolloutCorrection) return loss.rolloutCorrection.proximal ?? 'recomputed';
  const corrects =
    getPolicyLoss(loss.policyLoss).correctsForBehavior ||
    getAdvantageEstimator(advantage.estimator).correctsForBehavior;
  return corrects ? 'recomputed' : 'behavior';
}

/** Whether updates read behavior logprobs: imitation does not, so it can learn from any agent. */
export function readsBehaviorLogprobs({
  advantage,
  loss,
  preference,
}: Pick<Recipe, 'advantage' | 'loss' | 'preference'>): boolean {
  const { weighsImitation = false } = getAdvantageEstimator(advantage.estimator);
  return Boolean(preference) || Boolean(loss.rolloutCorrection) || !weighsImitation;
}

/** Whether each group gets an extra greedy episode, which is not trained on: the baseline of ReMax. */
export function playsGreedyBaseline({ advantage }: Pick<Recipe, 'advantage'>): boolean {
  return getAdvantageEstimator(advantage.estimator).requires.includes('greedyReturns');
}

/** Casts the rules to the library's type, whose checks they passed when the recipe was read. */
export function rejectionRules(rules: readonly RejectionRuleRecipe[] | undefined): readonly RejectionRule[] {
  return (rules ?? []) as readonly RejectionRule[];
}

function policyLossProblems({ loss }: Recipe): string[] {
  const policyLoss = listFaults('loss', () => getPolicyLoss(loss.policyLoss));
  if (policyLoss.length > 0) return policyLoss;
  if (loss.policyLoss === 'crossEntropy') {
    return [
      'loss.policyLoss: got "crossEntropy", which ignores advantages; to imitate an agent, set "imitation"',
    ];
  }
  return listFaults('loss', () =>
    resolvePolicyLossOptions(getPolicyLoss(loss.policyLoss), policyLossOptions(loss)),
  );
}

function advantageProblems({ advantage }: Recipe): string[] {
  if (advantage.estimator === 'retrace') {
    return [
      'advantage.estimator "retrace" needs the Q value of every token, which no critic here gives; with a value critic its traces are those of "vtrace": use that',
    ];
  }
  return listFaults('advantage', () =>
    resolveAdvantageOptions(getAdvantageEstimator(advantage.estimator), advantage.options),
  );
}

/** Runs the library's own checks, on a batch without tokens. */
function correctionProblems({ loss: { rolloutCorrection } }: Recipe): string[] {
  if (!rolloutCorrection) return [];
  const { importance, proximal, rejection = [], vetoBelow = null } = rolloutCorrection;
  if (proximal === 'interpolated' && (rejection.length > 0 || vetoBelow !== null)) {
    return [
      'loss.rolloutCorrection.proximal: got "interpolated", must be "recomputed" or "behavior" with rejection or vetoBelow: they compare the policies before the update',
    ];
  }
  const none = new Float32Array(0);
  const input = { offsets: Int32Array.of(0), proximalLogprobs: none, behaviorLogprobs: none };
  return [
    ...(importance
      ? listFaults('loss.rolloutCorrection.importance', () => importanceWeights(input, importance))
      : []),
    ...listFaults('loss.rolloutCorrection', () =>
      rejectTokens(input, { rules: rejectionRules(rejection), vetoBelow }),
    ),
  ];
}

function klProblems({ loss }: Recipe): string[] {
  if (!loss.kl) return [];
  const { adaptive, coefficient } = loss.kl;
  for (const field of ['straightThrough', 'biasCorrection'] as const) {
    if (!loss.kl[field] || loss.kl.in !== 'reward') continue;
    return [
      `loss.kl.${field}: got true, must be false or absent where loss.kl.in is "reward": it changes a gradient, and rewards have none`,
    ];
  }
  if (!adaptive) return [];
  if (coefficient === 0)
    return ['loss.kl.coefficient: got 0, must be positive where loss.kl.adaptive is set'];
  return listFaults('loss.kl.adaptive', () =>
    adaptKlCoefficient(coefficient, { meanKl: 0, numSamples: 0 }, adaptive),
  );
}

/** Checks that a reference that moves is compared with. */
function referenceProblems({ loss, preference }: Recipe): string[] {
  if (typeof loss.referenceDecay !== 'number' || initialKlCoefficient(loss) !== 0 || preference) return [];
  return [
    `loss.referenceDecay: got ${loss.referenceDecay}, must be null where loss.kl.coefficient is 0 and there is no preference: nothing is compared with the reference`,
  ];
}

/** Checks that a KL subtracted from the rewards reaches the advantages and suits the estimator. */
function klInRewardProblems({ advantage, loss }: Recipe): string[] {
  if (loss.kl?.in !== 'reward' || loss.kl.coefficient === 0) return [];
  const { name, requires } = getAdvantageEstimator(advantage.estimator);
  const refuse = (why: string) => [
    `loss.kl.in: got "reward", must be "loss" with advantage.estimator ${name}: ${why}`,
  ];
  if (requires.includes('rewardComponents')) {
    return refuse(
      'it normalizes each reward component by itself, so a KL subtracted from their sum would be lost',
    );
  }
  if (name === 'biLevelGae') {
    return refuse('it sums the rewards of a turn at its end, so the KL of each token would lose its place');
  }
  if (name === 'maxRl') {
    return refuse('it divides by the mean return of a group, which a KL can make negative');
  }
  return [];
}

function aggregationProblems({ loss: { aggregation, horizon = null } }: Recipe): string[] {
  const needed = aggregation === 'sequenceMeanTokenSumNorm';
  if (needed && horizon === null) {
    return [
      `"loss.horizon" is required with loss.aggregation ${aggregation}: the length in tokens that it divides each sum by`,
    ];
  }
  return [];
}

function entropyProblems({ loss: { policyLoss, topEntropyFraction } }: Recipe): string[] {
  if (!topEntropyFraction || policyLoss !== 'gmpo') return [];
  return [
    `loss.topEntropyFraction: got ${topEntropyFraction}, must be null with loss.policyLoss gmpo: it has one loss for all tokens of a sequence`,
  ];
}

/** Checks that options about anchors come with an estimator that reads them. */
function anchorProblems({ advantage: { estimator, anchorSimilarity } }: Recipe): string[] {
  if (anchorSimilarity === undefined || readsAnchors(estimator)) return [];
  return [
    `advantage.anchorSimilarity: got ${anchorSimilarity}, must be absent with advantage.estimator ${estimator}: it ignores anchors`,
  ];
}

/** Checks that options about episodes that were cut meet something that reads them. */
function truncationProblems({ advantage, loss, preference }: Recipe): string[] {
  const { estimator, bootstrapTruncated } = advantage;
  const problems: string[] = [];
  if (bootstrapTruncated !== undefined && !usesCritic(estimator)) {
    problems.push(
      `advantage.bootstrapTruncated: got ${bootstrapTruncated}, must be absent with advantage.estimator ${estimator}: it reads no values of a critic`,
    );
  }
  if (loss.maskTruncated === true && preference) {
    problems.push(
      'loss.maskTruncated: got true, must be false or absent with a preference: pairs are trained whole',
    );
  }
  return problems;
}

function usesCritic(estimator: string): boolean {
  return listAdvantageEstimators().includes(estimator) && getAdvantageEstimator(estimator).usesCritic;
}

/** Checks that nothing needs the ratio of tokens that were sampled from a truncated distribution. */
function samplingProblems(recipe: Recipe): string[] {
  const { topK = 0, topP = 1 } = recipe.collection;
  if (!readsBehaviorLogprobs(recipe)) return [];
  const rule = `with advantage.estimator ${recipe.advantage.estimator}: a token may leave the likeliest ones of the policy that is trained, so its ratio is undefined; only estimators that imitate read none`;
  return [
    ...(topK > 0 ? [`collection.topK: got ${topK}, must be 0 ${rule}`] : []),
    ...(topP < 1 ? [`collection.topP: got ${topP}, must be 1 ${rule}`] : []),
  ];
}

function combinationProblems(recipe: Recipe): string[] {
  const { advantage, loss, collection } = recipe;
  return combinationFaults({
    advantage: advantage.estimator,
    policyLoss: loss.policyLoss,
    importanceWeights: Boolean(loss.rolloutCorrection?.importance),
    proximal: proximalPolicy(recipe),
    valueCoefficient: loss.valueCoefficient,
    groupSize: collection.groupSize,
  }).map((fault) => `advantage ${advantage.estimator} with loss ${loss.policyLoss}: ${fault}`);
}

function listFaults(field: string, check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [`${field}: ${(error as Error).message}`];
  }
}
