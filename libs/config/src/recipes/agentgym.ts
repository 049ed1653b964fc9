import type { AgentRecipe } from '../recipe/agent-recipe.js';
import type { Recipe } from '../recipe/recipe.js';
import { frozenLakePpo } from './frozen-lake-ppo.js';

/** Differences between the environments: sizes and turns of verl-agent (796ed31), OpenManus-RL (c66d493) and AgentGym-RL (82402a9). */
interface AgentGymWorld {
  readonly family: string;
  readonly maxTurns: number;
  readonly maxPromptTokens: number;
  readonly miniBatchSequences: number;
  /** Where the server does not say how many tasks it has. */
  readonly numTasks?: number;
  readonly reward: Recipe['reward']['components'][number];
  readonly agent: AgentRecipe;
}

const SUCCESS = { reward: 'goal', options: { success: 10, failure: 0 } } as const;
const LAST_TWO = { history: { policy: 'last', length: 2 } } as const;
/** Both seeds carry out what they find in a turn of another form, and do not tell the agent. */
const EXECUTED = { strict: false, invalidAction: { execute: true, tell: false } } as const;
const THINK_ACTION = { format: 'think-action', showLegalActions: true, ...LAST_TWO, ...EXECUTED } as const;
const REACT = { format: 'react', showLegalActions: false, ...LAST_TWO, ...EXECUTED } as const;

const WORLDS = {
  alfworld: {
    family: 'alfworld',
    maxTurns: 50,
    maxPromptTokens: 2048,
    miniBatchSequences: 256,
    // ALFWorld's training games.
    numTasks: 3553,
    reward: SUCCESS,
    agent: { ...THINK_ACTION, taskMarker: 'Your task is to: ' },
  },
  webshop: {
    family: 'webshop',
    maxTurns: 15,
    maxPromptTokens: 4096,
    miniBatchSequences: 64,
    // Goals of the data set of 1,000 products.
    numTasks: 6910,
    reward: SUCCESS,
    agent: THINK_ACTION,
  },
  textcraft: {
    family: 'textcraft',
    maxTurns: 50,
    maxPromptTokens: 2048,
    miniBatchSequences: 256,
    reward: { reward: 'environment' },
    agent: REACT,
  },
  babyai: {
    family: 'babyai',
    maxTurns: 50,
    maxPromptTokens: 2048,
    miniBatchSequences: 256,
    reward: { reward: 'environment' },
    agent: REACT,
  },
} as const satisfies Record<string, AgentGymWorld>;

const MAX_NEW_TOKENS = 512;

/** Advantages, groups and critic of each algorithm. */
const ALGORITHMS = {
  ppo: {
    advantage: { estimator: 'gae', options: { gamma: 1, lambda: 1, whiten: true } },
    groups: { groupsPerRound: 128, groupSize: 1 },
    hasCritic: true,
  },
  grpo: {
    advantage: { estimator: 'grpo', options: {} },
    groups: { groupsPerRound: 16, groupSize: 8 },
    hasCritic: false,
  },
  gigpo: {
    advantage: {
      estimator: 'gigpo',
      options: { normalization: 'mean', stepGamma: 0.95, stepWeight: 1 },
    },
    groups: { groupsPerRound: 16, groupSize: 8 },
    hasCritic: false,
  },
} as const;

const ON_GPUS = '-4gpu';
/** In nats: what a server in bfloat16 differs by from the policy in float32. */
const BFLOAT16_DIFFERENCE = 0.1;

type WorldName = keyof typeof WORLDS;
type AlgorithmName = keyof typeof ALGORITHMS;

/**
 * The recipes `<world>-<algorithm>`, and `<world>-<algorithm>-4gpu` of both seeds' worlds: a policy of a model directory in an environment of AgentGym, with the hyperparameters of the scripts of
 * OpenManus-RL and verl-agent (`docs/openmanus-rl.md` maps their options). Both directory and address of the server are the user's to set.
 */
export const agentGymRecipes: Readonly<Record<string, () => Recipe>> = Object.fromEntries([
  ...forEachAlgorithm(Object.keys(WORLDS) as WorldName[], '', agentGymRecipe),
  ...forEachAlgorithm(['alfworld', 'webshop'], ON_GPUS, onGpus),
]);

function forEachAlgorithm(
  worlds: readonly WorldName[],
  suffix: string,
  make: (world: WorldName, algorithm: AlgorithmName) => Recipe,
): readonly (readonly [string, () => Recipe])[] {
  return worlds.flatMap((world) =>
    (Object.keys(ALGORITHMS) as AlgorithmName[]).map(
      (algorithm) => [`${world}-${algorithm}${suffix}`, () => make(world, algorithm)] as const,
    ),
  );
}

/** The same on four GPUs, with a server of vLLM on them or on others, as the scripts of both seeds have it. */
function onGpus(world: WorldName, algorithm: AlgorithmName): Recipe {
  const recipe = agentGymRecipe(world, algorithm);
  return {
    ...recipe,
    name: `${recipe.name}${ON_GPUS}`,
    description: `AgentGym's ${world}, ${algorithm.toUpperCase()} on four GPUs by the torch engine, sampled by a vLLM server; set policy.model and the addresses`,
    engine: { kind: 'torch', processes: 4, precision: 'bfloat16' },
    collection: {
      ...recipe.collection,
      endpoint: { kind: 'vllm', url: 'http://127.0.0.1:8000', maxLogprobDifference: BFLOAT16_DIFFERENCE },
    },
  };
}

function agentGymRecipe(worldName: WorldName, algorithmName: AlgorithmName): Recipe {
  const { model, compute, ...base } = frozenLakePpo();
  void [model, compute];
  const world: AgentGymWorld = WORLDS[worldName];
  const { advantage, groups, hasCritic } = ALGORITHMS[algorithmName];
  const maxPositions = world.maxPromptTokens + MAX_NEW_TOKENS;
  return {
    ...base,
    name: `${worldName}-${algorithmName}`,
    description: `AgentGym's ${worldName} with the hyperparameters of verl-agent and OpenManus-RL, ${algorithmName.toUpperCase()}; set policy.model and environment.server.urls`,
    environment: {
      name: worldName,
      server: {
        protocol: 'agentgym',
        family: world.family,
        urls: ['http://127.0.0.1:36001'],
        maxSteps: world.maxTurns,
        anchor: 'observation',
        ...(world.numTasks !== undefined && { numTasks: world.numTasks }),
      },
    },
    context: { window: 'observation', tokenizer: 'model', maxNewTokens: MAX_NEW_TOKENS },
    agent: {
      ...world.agent,
      maxTurns: world.maxTurns,
      maxPromptTokens: world.maxPromptTokens,
      truncation: 'endEpisode',
    },
    policy: { model: 'model', maxPositions, ...(hasCritic && { valueTrunk: 'own' }) },
    collection: {
      ...base.collection,
      ...groups,
      concurrentEpisodes: 128,
    },
    reward: {
      components: [world.reward, { reward: 'invalidAction', options: { penalty: 0.1 } }],
      allocation: 'perStep',
      allocationGamma: 1,
    },
    advantage,
    loss: {
      ...base.loss,
      entropyCoefficient: 0.001,
      valueCoefficient: hasCritic ? 0.5 : 0,
      valueClip: hasCritic ? 0.5 : null,
      kl: { coefficient: 0.01, in: 'loss', estimator: 'k3', straightThrough: false, adaptive: null },
    },
    optimizer: {
      ...base.optimizer,
      learningRate: 1e-6,
      criticLearningRate: hasCritic ? 1e-5 : null,
      beta2: 0.999,
      weightDecay: 0.01,
      warmupFraction: 0,
      decayStartFraction: 1,
      finalFraction: 1,
      epochs: 1,
      miniBatchSequences: world.miniBatchSequences,
      recomputeLayers: true,
    },
    numUpdates: 150,
    evaluation: { everyUpdates: 5, numValidationEpisodes: 128, numTestEpisodes: 128 },
  };
}
