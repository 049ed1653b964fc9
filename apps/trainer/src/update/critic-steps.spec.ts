import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { RewardScorer } from '@retrace/rewards/scoring';
import { columnsFromTokens } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TensorflowEngine } from '../engine/tensorflow-engine.js';
import { computeUpdate } from './compute-update.js';

const SAMPLING = { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 2 };
/** Four episodes of two turns with two action tokens each: 16 action tokens. */
const columns = columnsFromTokens(
  [1, 2, 3, 4].map((first) => ({
    groupId: `group-${first}`,
    steps: [0, 1].map((k) => ({
      ...{ observation: [first], action: [5 + k, 6], logprobs: [-1, -1], policyVersions: -1 },
      fields: { reward: k * first, sampling: SAMPLING, keptPrefixTokens: 3 * k },
    })),
    ended: {},
  })),
);
const CRITIC = /^(critic|value_head)/;

describe('a critic that is optimized apart', () => {
  let directory = '';
  let checkpoints: CheckpointFiles;
  beforeAll(async () => {
    await openBackend();
    directory = await mkdtemp(join(tmpdir(), 'retrace-critic-steps-'));
    checkpoints = new CheckpointFiles(directory);
  });
  afterAll(async () => {
    await rm(directory, { recursive: true });
  });

  /** The weights of policy and critic after each of these updates, and what the updates measured. */
  const train = async (critic: object | null, numUpdates = 1, more: readonly string[] = []) => {
    const recipe = resolveRecipe('frozen-lake-ppo', {
      numUpdates: 10,
      assignments: [
        ...['context.window=history', 'context.maxNewTokens=2', 'model.hiddenSize=16', 'model.numLayers=1'],
        ...['reward.allocation=perStep', 'optimizer.epochs=1', 'optimizer.miniBatchActionTokens=16'],
        ...['model.valueTrunk=own', 'optimizer.criticLearningRate=0.01', 'optimizer.warmupFraction=0'],
        ...['loss.rolloutCorrection={}', `optimizer.critic=${JSON.stringify(critic)}`],
        ...more,
      ],
    });
    const engine = await TensorflowEngine.open({ recipe, checkpoints, vocabSize: 16, tokenizerHash: '' });
    const parts = async () => {
      const tensors = [...(await engine.model.exportTensors())];
      const of = (isCritic: boolean) =>
        tensors.flatMap(([name, { data }]) => (CRITIC.test(name) === isCritic ? [...data] : []));
      return { policy: of(false), critic: of(true) };
    };
    const weights = [await parts()];
    const results = [];
    for (let updateNumber = 1; updateNumber <= numUpdates; updateNumber++) {
      const result = await computeUpdate({
        plan: {
          ...{ stage: 'policy', updateNumber, policyVersionIn: updateNumber - 1, seed: 3 },
          ...{ groupIds: ['group-1'], groupRuns: null, episodeGroups: null, groupWeights: null },
        },
        ...{
          columns,
          texts: null,
          recipe,
          rewards: new RewardScorer(recipe.reward),
          engine,
          reference: null,
        },
        ...{ recordedRewards: null, trainerState: null },
      });
      results.push({ ...result, figures: new Map(result.metrics) });
      weights.push(await parts());
    }
    await engine.close();
    return { weights, results };
  };

  it('is trained alone in its warm-up, and the policy begins as if there had been none', async () => {
    const { weights, results } = await train({ numWarmupUpdates: 2 }, 3);
    const [start, first, second, third] = weights;
    expect(second.policy).toEqual(start.policy);
    expect(third.policy).not.toEqual(start.policy);
    expect(first.critic).not.toEqual(start.critic);
    expect(second.critic).not.toEqual(first.critic);
    expect(third.critic).not.toEqual(second.critic);
    const [{ figures, outcome }] = results;
    expect(outcome.numOptimizerSteps).toBe(1);
    expect(figures.get('train/valueLoss')).toBeGreaterThan(0);
    expect(figures.get('train/loss')).toBeCloseTo(0.5 * (figures.get('train/valueLoss') ?? NaN), 6);
    for (const name of ['train/policyLoss', 'train/entropy', 'train/clipFraction'])
      expect(figures.has(name), name).toBe(false);
    expect(results[2].figures.has('train/policyLoss')).toBe(true);
    expect(results[2].outcome.numOptimizerSteps).toBe(2);
  });

  it('leaves the guard against spikes to the norms of the policy', async () => {
    const guard = 'optimizer.guard={"spikeFactor":2}';
    const { results } = await train({ numWarmupUpdates: 1, epochs: 24 }, 1, [guard]);
    expect(results[0].outcome.numOptimizerSteps).toBe(24);
  });

  it('makes the epochs and mini-batches that it has of its own, which change nothing for the policy', async () => {
    const once = await train({});
    const often = await train({ epochs: 3, miniBatchActionTokens: 8 });
    // One step of the policy; of the critic one, or three epochs of 16/8 mini-batches.
    expect(once.results[0].outcome.numOptimizerSteps).toBe(2);
    expect(often.results[0].outcome.numOptimizerSteps).toBe(1 + 3 * 2);
    expect(often.weights[1].policy).toEqual(once.weights[1].policy);
    expect(often.weights[1].critic).not.toEqual(once.weights[1].critic);
    const bySequence = await train({ miniBatchSequences: 1 });
    expect(bySequence.results[0].outcome.numOptimizerSteps).toBe(1 + 4);
  });

  it('has a bound of its own for the norm of its gradients', async () => {
    const [wide, narrow] = [await train({}), await train({ maxGradientNorm: 1e-6 })];
    const norm = (run: typeof wide) => run.results[0].figures.get('train/criticGradientNorm');
    expect(norm(narrow)).toBe(norm(wide));
    expect(narrow.weights[1].critic).not.toEqual(wide.weights[1].critic);
    expect(narrow.weights[1].policy).toEqual(wide.weights[1].policy);
  });

  it('makes in one step each what shared steps make, up to rounding', async () => {
    const [shared, apart] = [await train(null), await train({})];
    for (const part of ['policy', 'critic'] as const) {
      const difference = shared.weights[1][part].map((value, i) =>
        Math.abs(value - apart.weights[1][part][i]),
      );
      expect(Math.max(...difference)).toBeLessThan(1e-5);
    }
    for (const name of ['train/loss', 'train/valueLoss', 'train/policyLoss', 'train/entropy'])
      expect(apart.results[0].figures.get(name), name).toBeCloseTo(
        shared.results[0].figures.get(name) ?? NaN,
        5,
      );
  });
});
