import { ConfigError } from '../config-error.js';
import { KlRecipe, type LossRecipe } from '../recipe/loss-recipe.js';
import type { Recipe } from '../recipe/recipe.js';
import { showText } from '../recipe/show-value.js';

/** The parts of a recipe by which an algorithm differs from another; the task, the model and the learning rate stay. */
type AlgorithmParts = Pick<Recipe, 'advantage' | 'loss' | 'collection' | 'preference' | 'sampler'>;

interface AlgorithmPreset {
  readonly description: string;
  /** Paper. */
  readonly source: string;
  readonly parts: (recipe: Recipe) => Partial<AlgorithmParts>;
}

/** Members of a group where the recipe has smaller ones; the number of groups falls so that a round keeps its episodes. */
const GROUP_SIZE = 8;
/** The same where only the best and the worst member are trained on: smaller, as the rest of a group is played for nothing. */
const PAIR_GROUP_SIZE = 4;
/** Versions that collectors may be behind, for the algorithms that are made for stale data. */
const STALENESS = 8;

/** Tokens. The paper's bounds of GSPO, 3e-4 and 4e-4, are for the mean log ratio of thousands, which hardly moves; that of a few moves as a token's. */
const LONG_ANSWER = 64;
const TOKEN_CLIP = { clipLow: 0.2, clipHigh: 0.2 };

const GAE = { estimator: 'gae', options: { gamma: 1, lambda: 0.95, whiten: true } };
const VALUE = { valueCoefficient: 0.5 } as const;
const NO_CRITIC = { valueCoefficient: 0, valueClip: null } as const;
/** Settings of one algorithm that another must not inherit. */
const PLAIN_LOSS = {
  ...{ policyLoss: 'ppo', policyLossOptions: {}, clipLow: 0.2, clipHigh: 0.2, dualClip: null },
  ...{ aggregation: 'tokenMean', horizon: null, rolloutCorrection: null },
} as const satisfies Partial<LossRecipe>;

/** The algorithms by name, each with the settings of its paper. */
const PRESETS: Readonly<Record<string, AlgorithmPreset>> = {
  ppo: {
    description: 'PPO with a critic and GAE',
    source: 'arXiv:1707.06347',
    parts: (recipe) => withCritic(recipe, GAE),
  },
  grpo: {
    description: 'GRPO: z-scores within groups, no critic',
    source: 'arXiv:2402.03300',
    parts: (recipe) => withGroups(recipe, 'grpo', { aggregation: 'sequenceMeanTokenMean' }),
  },
  'dr-grpo': {
    description: 'Dr. GRPO: GRPO without its divisions by deviation and length',
    source: 'arXiv:2503.20783',
    parts: (recipe) =>
      withGroups(recipe, 'drGrpo', {
        aggregation: 'sequenceMeanTokenSumNorm',
        horizon: recipe.context.maxNewTokens,
      }),
  },
  dapo: {
    description: 'DAPO: a higher upper bound, token means, only groups whose rewards differ',
    source: 'arXiv:2503.14476',
    parts: (recipe) => ({
      ...withGroups(recipe, 'grpo', { clipHigh: 0.28, ...withoutKl(recipe) }),
      sampler: { ...(recipe.sampler ?? { rule: 'fifo' }), zeroVariance: 'resample' },
    }),
  },
  gspo: {
    description: 'GSPO: the ratio of whole sequences',
    source: 'arXiv:2507.18071',
    parts: (recipe) =>
      withGroups(recipe, 'grpo', {
        ...{ policyLoss: 'gspo', aggregation: 'sequenceMeanTokenMean' },
        policyLossOptions: recipe.context.maxNewTokens < LONG_ANSWER ? TOKEN_CLIP : {},
      }),
  },
  cispo: {
    description: 'CISPO: clipped weights instead of clipped gradients',
    source: 'arXiv:2506.13585',
    parts: (recipe) => withGroups(recipe, 'grpo', { policyLoss: 'cispo' }),
  },
  rloo: {
    description: 'RLOO: the mean of the others as the baseline',
    source: 'arXiv:2402.14740',
    parts: (recipe) => withGroups(recipe, 'rloo', { aggregation: 'sequenceMeanTokenSum' }),
  },
  'reinforce++': {
    description: 'REINFORCE++: returns whitened over the batch, no critic',
    source: 'arXiv:2501.03262',
    parts: (recipe) => ({
      advantage: { estimator: 'reinforcePlusPlus', options: {} },
      loss: { ...recipe.loss, ...PLAIN_LOSS, ...NO_CRITIC },
    }),
  },
  gigpo: {
    description: 'GiGPO: GRPO with a second comparison of the steps taken from the same state',
    source: 'arXiv:2505.10978',
    parts: (recipe) => withGroups(recipe, 'gigpo', {}),
  },
  'decoupled-ppo': {
    description: `Decoupled PPO on data up to ${STALENESS} versions old`,
    source: 'arXiv:2505.24298',
    parts: (recipe) => ({
      ...withCritic(recipe, GAE, { policyLoss: 'decoupledPpo' }),
      collection: { ...recipe.collection, maxStaleness: STALENESS },
    }),
  },
  vtrace: {
    description: `V-trace on data up to ${STALENESS} versions old`,
    source: 'arXiv:1802.01561',
    parts: (recipe) => ({
      ...withCritic(recipe, { estimator: 'vtrace', options: { gamma: 1 } }),
      collection: { ...recipe.collection, maxStaleness: STALENESS },
    }),
  },
  awr: {
    description: 'AWR: imitation weighted by the exponential of the advantage',
    source: 'arXiv:1910.00177',
    parts: (recipe) => withCritic(recipe, { estimator: 'awr', options: {} }, { policyLoss: 'gpg' }),
  },
  'filtered-imitation': {
    description: 'Imitation of the quarter of the episodes with the highest returns',
    source: 'arXiv:2106.01345',
    parts: (recipe) => ({
      advantage: { estimator: 'topReturns', options: {} },
      loss: { ...recipe.loss, ...PLAIN_LOSS, ...NO_CRITIC, policyLoss: 'gpg' },
    }),
  },
  'best-of-n': {
    description: 'Best-of-n distillation: imitation of the best members of each group',
    source: 'arXiv:2304.06767',
    parts: (recipe) => withGroups(recipe, 'bestOfN', { policyLoss: 'gpg' }),
  },
  dpo: {
    description: 'DPO on the best and the worst member of each group',
    source: 'arXiv:2305.18290',
    parts: (recipe) => ({
      ...withGroups(recipe, 'grpo', withoutKl(recipe), PAIR_GROUP_SIZE),
      preference: { loss: 'dpo', beta: 0.1 },
    }),
  },
};

export function listAlgorithms(): readonly {
  readonly name: string;
  readonly description: string;
  readonly source: string;
}[] {
  return Object.entries(PRESETS).map(([name, { description, source }]) => ({ name, description, source }));
}

/**
 * The recipe trained by another algorithm: estimator, loss, groups and staleness are the algorithm's, everything else stays.
 *
 * @throws ConfigError `RECIPE_INVALID` for an unknown name
 */
export function withAlgorithm(recipe: Recipe, name: string): Recipe {
  if (!Object.hasOwn(PRESETS, name)) {
    throw new ConfigError(
      'RECIPE_INVALID',
      `Unknown algorithm "${showText(name)}"; use one of ${Object.keys(PRESETS).join(', ')}`,
    );
  }
  return { ...recipe, preference: null, ...PRESETS[name].parts(recipe) };
}

/** The KL term with a coefficient of 0, which keeps its other settings for the what-ifs of a run. Written also where there is none: hashes of runs have it. */
function withoutKl({ loss: { kl } }: Recipe): Pick<LossRecipe, 'kl'> {
  return { kl: { ...(kl ?? new KlRecipe()), coefficient: 0, adaptive: null } };
}

function withCritic(
  { loss }: Recipe,
  advantage: Recipe['advantage'],
  change: Partial<LossRecipe> = {},
): Pick<AlgorithmParts, 'advantage' | 'loss'> {
  return { advantage, loss: { ...loss, ...PLAIN_LOSS, ...VALUE, ...change } };
}

function withGroups(
  { loss, collection }: Recipe,
  estimator: string,
  change: Partial<LossRecipe>,
  groupSize = GROUP_SIZE,
): Pick<AlgorithmParts, 'advantage' | 'loss' | 'collection'> {
  const numEpisodes = collection.groupSize * collection.groupsPerRound;
  const groups =
    collection.groupSize >= 2
      ? {}
      : { groupSize, groupsPerRound: Math.max(1, Math.round(numEpisodes / groupSize)) };
  return {
    advantage: { estimator, options: {} },
    loss: { ...loss, ...PLAIN_LOSS, ...NO_CRITIC, ...change },
    collection: { ...collection, ...groups },
  };
}
