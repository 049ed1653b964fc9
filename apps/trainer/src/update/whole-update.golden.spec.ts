import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { CheckpointFiles, type FileRef } from '@retrace/policy';
import { RewardScorer } from '@retrace/rewards/scoring';
import { columnsFromTokens } from '@retrace/trajectory/testing';
import type { EpisodeColumns } from '@retrace/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TensorflowEngine } from '../engine/tensorflow-engine.js';
import { computeUpdate } from './compute-update.js';

const GOLDEN = new URL('../../../../test/golden/', import.meta.url);
const MODEL = new URL('policy/models/llama', GOLDEN).pathname;

type GoldenUpdate = Readonly<Record<'losses' | 'gradientNorms' | 'advantages', readonly number[]>>;

interface GoldenStep {
  readonly observation: readonly number[];
  readonly action: readonly number[];
  readonly reward: number;
  readonly anchor: string;
}

interface Golden {
  readonly version: number;
  readonly temperature: number;
  readonly optimizer: Readonly<Record<string, number>>;
  readonly episodes: readonly {
    readonly group: string;
    readonly steps: readonly GoldenStep[];
    readonly truncated: boolean;
    readonly final: readonly number[];
    readonly logprobs: readonly (readonly number[])[];
    readonly otherLogprobs: readonly (readonly number[])[];
  }[];
  readonly updates: Readonly<Record<'ppo' | 'grpo' | 'gigpo', GoldenUpdate>>;
}

const golden = JSON.parse(await readFile(new URL('updates/updates.json', GOLDEN), 'utf8')) as Golden;

const fileOf = (name: string) => readFile(new URL(`updates/${name}.safetensors`, GOLDEN));

/** Of each update, the recipe's settings beside those that all three have. */
const SETTINGS = {
  ppo: [
    'advantage={"estimator":"gae","options":{"gamma":0.97,"lambda":0.9,"whiten":true}}',
    'loss.valueCoefficient=0.5',
    'loss.valueClip=0.02',
    'loss.entropyCoefficient=0.01',
    'loss.clipHigh=0.2',
  ],
  grpo: [
    'advantage={"estimator":"grpo","options":{}}',
    'loss.clipHigh=0.28',
    'loss.aggregation=sequenceMeanTokenMean',
    'loss.kl.coefficient=0.04',
    'loss.rolloutCorrection={"importance":{"level":"token","cap":1.2}}',
    'collection.maxStaleness=2',
  ],
  gigpo: ['advantage={"estimator":"gigpo","options":{"stepGamma":0.95,"stepWeight":1}}', 'loss.clipHigh=0.2'],
} as const;

type Algorithm = keyof typeof SETTINGS;

function recipeOf(name: Algorithm) {
  const { temperature, optimizer } = golden;
  const ofOptimizer = Object.entries(optimizer).map(([field, value]) => `optimizer.${field}=${value}`);
  return resolveRecipe('bandit-ppo', {
    assignments: [
      'model=null',
      'context.tokenizer=model',
      'collection.groupSize=3',
      `policy={"model":"${MODEL}","maxPositions":64}`,
      `collection.temperature=${temperature}`,
      'loss.valueCoefficient=0',
      'loss.entropyCoefficient=0',
      'optimizer.schedule=constant',
      'optimizer.warmupFraction=0',
      'optimizer.decayStartFraction=1',
      'optimizer.miniBatchActionTokens=1000',
      ...ofOptimizer,
      ...SETTINGS[name],
    ],
  });
}

/** The episodes as the store's reader gives them: those of `grpo` were sampled by the version before. */
function columnsOf(name: Algorithm): EpisodeColumns {
  const { version, temperature, episodes } = golden;
  const sampling = { temperature, topK: 0, topP: 1, greedy: false, maxNewTokens: 8 };
  const isStale = name === 'grpo';
  return columnsFromTokens(
    episodes.map(({ group, steps, truncated, final, logprobs, otherLogprobs }) => ({
      groupId: group,
      steps: steps.map(({ observation, action, reward, anchor }, k) => ({
        observation,
        action,
        logprobs: (isStale ? otherLogprobs : logprobs)[k],
        policyVersions: isStale ? version - 1 : version,
        fields: { reward, anchor, sampling },
      })),
      ended: truncated
        ? {
            endReason: 'truncated' as const,
            finalTokenIds: Int32Array.from(final),
            finalKeptPrefixTokens: numTokens(steps),
          }
        : {},
    })),
  );
}

const numTokens = (steps: readonly GoldenStep[]) =>
  steps.reduce((sum, { observation, action }) => sum + observation.length + action.length, 0);

describe('a whole update from given weights, batch and optimizer state is that of torch', () => {
  let directory = '';
  let checkpoints: CheckpointFiles;
  beforeAll(async () => {
    await openBackend();
    directory = await mkdtemp(join(tmpdir(), 'retrace-whole-update-'));
    checkpoints = new CheckpointFiles(directory);
  });
  afterAll(async () => {
    await rm(directory, { recursive: true });
  });

  const store = async (name: string) => checkpoints.write(await fileOf(name));
  const open = (name: Algorithm) =>
    TensorflowEngine.open({ recipe: recipeOf(name), checkpoints, vocabSize: 32, tokenizerHash: '' });

  /** The numbers of every tensor of a file, by its name. */
  const tensorsOf = async (ref: FileRef): Promise<ReadonlyMap<string, Float32Array>> => {
    const file = await checkpoints.open(ref);
    const tensors = new Map<string, Float32Array>();
    for (const [name, { shape }] of file.header.entries) {
      const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
      await file.read(name, values);
      tensors.set(name, values);
    }
    await file.close();
    return tensors;
  };

  it.each(['ppo', 'grpo', 'gigpo'] as const)('%s', async (name) => {
    const recipe = recipeOf(name);
    const engine = await open(name);
    await engine.load({ weights: await store('start'), optimizer: await store('optimizer') });
    const { outcome } = await computeUpdate({
      plan: {
        ...{ stage: 'policy', updateNumber: 8, policyVersionIn: golden.version, seed: 3 },
        ...{ groupIds: ['group-0', 'group-1'], groupRuns: null, episodeGroups: null, groupWeights: null },
      },
      ...{ columns: columnsOf(name), texts: null, recipe, rewards: new RewardScorer(recipe.reward), engine },
      reference: name === 'grpo' ? { kind: 'published', weights: await store('reference') } : null,
      ...{ recordedRewards: null, trainerState: null },
    });
    const expected = golden.updates[name];
    expected.losses.forEach((loss, k) => {
      expect(outcome.stepLosses[k]).toBeCloseTo(loss, 5);
      expect(outcome.stepGradientNorms[k]).toBeCloseTo(expected.gradientNorms[k], 4);
    });
    expect(outcome.numOptimizerSteps).toBe(2);

    const trained = await tensorsOf(await engine.saveWeights());
    const wanted = await tensorsOf(await store(name));
    const start = await tensorsOf(await store('start'));
    for (const [tensor, values] of trained) {
      const expectedValues = wanted.get(tensor) ?? new Float32Array(0);
      const moved = norm(difference(expectedValues, start.get(tensor) ?? values));
      const missed = norm(difference(values, expectedValues));
      expect(moved, tensor).toBeGreaterThan(0);
      expect(missed / norm(expectedValues), tensor).toBeLessThan(1e-4);
      // Of the steps themselves, since small ones would hide in the weights.
      expect(missed / moved, tensor).toBeLessThan(1e-3);
    }
    await engine.close();
  });
});

const difference = (a: Float32Array, b: Float32Array) => a.map((value, n) => value - b[n]);
const norm = (values: Float32Array) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
