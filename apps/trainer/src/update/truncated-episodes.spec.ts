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

interface EpisodeOptions {
  readonly rewards: readonly number[];
  readonly truncated?: boolean;
  readonly groupId?: string;
}

/** Episodes of turns with one token of observation and two of action; a truncated one has a final observation of one token. */
function columnsOf(episodes: readonly EpisodeOptions[]) {
  return columnsFromTokens(
    episodes.map(({ rewards, truncated = false, groupId = 'group-0' }, e) => ({
      groupId,
      steps: rewards.map((reward, k) => ({
        ...{ observation: [1 + ((e + k) % 4)], action: [5 + k, 6], logprobs: [-1, -1], policyVersions: -1 },
        fields: { reward, sampling: SAMPLING, keptPrefixTokens: 3 * k },
      })),
      ended: truncated
        ? {
            endReason: 'truncated' as const,
            finalTokenIds: Int32Array.of(2),
            finalKeptPrefixTokens: 3 * rewards.length,
          }
        : {},
    })),
  );
}

describe('an update with truncated episodes', () => {
  let directory = '';
  let checkpoints: CheckpointFiles;
  beforeAll(async () => {
    await openBackend();
    directory = await mkdtemp(join(tmpdir(), 'retrace-truncated-'));
    checkpoints = new CheckpointFiles(directory);
  });
  afterAll(async () => {
    await rm(directory, { recursive: true });
  });

  const update = async (
    assignments: readonly string[],
    episodes: readonly EpisodeOptions[],
    source = 'frozen-lake-ppo',
  ) => {
    const recipe = resolveRecipe(source, {
      assignments: [
        ...['context.window=history', 'context.maxNewTokens=2', 'model.hiddenSize=16', 'model.numLayers=1'],
        ...['reward.allocation=perStep', 'optimizer.epochs=1', 'optimizer.miniBatchActionTokens=1000'],
        ...assignments,
      ],
    });
    const engine = await TensorflowEngine.open({ recipe, checkpoints, vocabSize: 16, tokenizerHash: '' });
    const columns = columnsOf(episodes);
    const result = await computeUpdate({
      plan: {
        ...{ stage: 'policy', updateNumber: 1, policyVersionIn: 0, seed: 3 },
        ...{ groupIds: ['group-0'], groupRuns: null, episodeGroups: null, groupWeights: null },
      },
      ...{ columns, texts: null, recipe, rewards: new RewardScorer(recipe.reward), engine, reference: null },
      ...{ recordedRewards: null, trainerState: null },
    });
    await engine.close();
    const { advantages, trainedMask } = result.tokens;
    return {
      result,
      metrics: new Map(result.metrics),
      advantages: Array.from(advantages ?? []),
      trained: Array.from(trainedMask),
    };
  };

  const plain = 'advantage.options={"gamma":0.9,"lambda":0.8,"whiten":false}';
  const cut: readonly EpisodeOptions[] = [{ rewards: [0, 1], truncated: true }, { rewards: [1] }];
  const ended: readonly EpisodeOptions[] = [{ rewards: [0, 1] }, { rewards: [1] }];

  it('bootstraps them by default, and with bootstrapTruncated false takes a cut for an end, as verl does', async () => {
    const bootstrapped = await update([plain], cut);
    const terminated = await update([plain], ended);
    const switched = await update([plain, 'advantage.bootstrapTruncated=false'], cut);
    expect(switched.advantages).toEqual(terminated.advantages);
    expect(switched.metrics.get('return/mean')).toBe(terminated.metrics.get('return/mean'));
    // The last token of the first episode differs by γ·V(s_T), the others of that episode by less; the second episode ended.
    expect(bootstrapped.advantages.slice(0, 4)).not.toEqual(terminated.advantages.slice(0, 4));
    expect(bootstrapped.advantages.slice(4)).toEqual(terminated.advantages.slice(4));
  });

  it('leaves them out of the loss with maskTruncated, while their returns stay the baseline of their group', async () => {
    const grouped = [
      ...['advantage={"estimator":"drGrpo","options":{}}', 'loss.valueCoefficient=0'],
      ...['loss.valueClip=null', 'collection.groupSize=3', 'loss.rolloutCorrection={}'],
    ];
    const episodes: readonly EpisodeOptions[] = [
      { rewards: [0, 0], truncated: true },
      { rewards: [3] },
      { rewards: [0] },
    ];
    const whole = await update(grouped, episodes);
    const masked = await update([...grouped, 'loss.maskTruncated=true'], episodes);
    // R − μ with μ = (0 + 3 + 0)/3 = 1, over episodes of 4, 2 and 2 tokens.
    expect(whole.advantages).toEqual([-1, -1, -1, -1, 2, 2, -1, -1]);
    expect(masked.advantages.slice(4)).toEqual([2, 2, -1, -1]);
    expect(whole.trained).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(masked.trained).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(masked.metrics.get('train/numLearnedTokens')).toBe(4);
    // At a ratio of 1 the loss is −ΣA/N, by the tokens that are trained: −(4·−1 + 2·2 + 2·−1)/8 and −(2·2 + 2·−1)/4.
    expect(whole.metrics.get('train/policyLoss')).toBeCloseTo(0.25, 5);
    expect(masked.metrics.get('train/policyLoss')).toBeCloseTo(-0.5, 5);
  });

  it('says that nothing was trained where all are truncated and left out', async () => {
    const { result } = await update(
      ['loss.maskTruncated=true'],
      [
        { rewards: [1], truncated: true },
        { rewards: [0], truncated: true },
      ],
    );
    expect(result.alarm).toContain('all 2 episodes with a reward were truncated, and loss.maskTruncated');
  });

  it('measures turns, prompts, values and the clipping of values as verl does', async () => {
    const { metrics } = await update(
      ['loss.valueClip=1000', 'context.maxNewTokens=2'],
      [{ rewards: [0, 1] }, { rewards: [1] }],
    );
    const figures = [...metrics].filter(([name]) => /^(turn|value)\//.test(name));
    expect(Object.fromEntries(figures.filter(([name]) => name.startsWith('turn/')))).toEqual({
      ...{ 'turn/actionTokens/mean': 2, 'turn/actionTokens/max': 2, 'turn/actionTokens/min': 2 },
      ...{ 'turn/clippedFraction': 1, 'turn/emptyFraction': 0 },
      // Of the first turns one token each, of the second one the three before and its own.
      ...{ 'turn/promptTokens/mean': 2, 'turn/promptTokens/max': 4, 'turn/promptTokens/min': 1 },
    });
    expect(figures.map(([name]) => name)).toEqual(
      expect.arrayContaining(['value/mean', 'value/max', 'value/min']),
    );
    expect(metrics.get('train/valueClipFraction')).toBe(0);
    const { metrics: clipped } = await update(['loss.valueClip=null'], [{ rewards: [1] }]);
    expect(clipped.has('train/valueClipFraction')).toBe(false);
  });
});
