import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InProcessRun } from './support/in-process-run.js';

const NUM_UPDATES = 4;
/** Bandits give one reward of 0 or 1 for an episode; without KL and entropy terms the loss is linear in the advantages at ratio 1. */
const LINEAR = [
  'collection.groupsPerRound=16',
  'optimizer.epochs=2',
  'optimizer.miniBatchActionTokens=32',
  'loss.entropyCoefficient=0',
  'loss.kl.coefficient=0',
  'evaluation.everyUpdates=0',
  'evaluation.numTestEpisodes=0',
  'checkpoint.keepEvery=100',
  'checkpoint.weights={"keepLast":2,"keepBest":0,"keepEvery":100}',
];

describe('updates of a finished run', () => {
  let directory: string;
  let run: InProcessRun;
  let weightOf: (weight: number) => string;

  beforeAll(async () => {
    await openBackend();
    directory = await mkdtemp(join(tmpdir(), 'retrace-what-if-'));
    const recipe = resolveRecipe('memory-bandit-grpo', {
      numUpdates: NUM_UPDATES,
      assignments: LINEAR,
    });
    weightOf = (weight) =>
      `reward.components=${JSON.stringify(recipe.reward.components.map((part) => ({ ...part, weight })))}`;
    run = await InProcessRun.begin(directory, recipe);
    await run.work();
  });

  afterAll(async () => {
    await run.close();
    await rm(directory, { recursive: true });
  });

  it('have the parts that their episodes had in them recorded, and the loss of each optimizer step', async () => {
    const traces = await run.traces();
    expect(traces.map(({ updateNumber }) => updateNumber)).toEqual([1, 2, 3, 4]);
    const updates = await run.updates();
    for (const [u, trace] of traces.entries()) {
      const { metricNames, metricValues } = updates[u];
      const metric = (name: string) => metricValues[metricNames.indexOf(name)];
      expect(trace.episodeIds).toHaveLength(metric('train/numEpisodes'));
      expect(mean(trace.stepLosses)).toBeCloseTo(metric('train/loss'), 12);
      expect(mean(trace.stepGradientNorms)).toBeCloseTo(metric('train/gradientNorm'), 12);
      // GRPO: the advantages of a group add up to 0, and all tokens of an episode have the same one.
      trace.groupIds.forEach((_, g) => {
        const ofGroup = trace.advantageMeans.filter((_mean, e) => trace.episodeGroups[e] === g);
        expect(Math.abs(mean(ofGroup))).toBeLessThan(1e-5);
      });
      expect(trace.advantageMins).toEqual(trace.advantageMaxs);
    }
  });

  it('are replayed bit for bit, each optimizer step and the whole run, without most checkpoints', async () => {
    for (const updateNumber of [1, 3]) {
      const result = await run.replay(updateNumber);
      expect(result).toMatchObject({ sameWeights: true, lossDifference: 0, firstDifferingStep: null });
      expect(result.steps?.length).toBeGreaterThan(2);
    }
    expect(await run.replayAll()).toMatchObject({
      numUpdates: NUM_UPDATES,
      numPolicies: NUM_UPDATES + 1,
      differing: [],
    });
  });

  it(
    'are the same with no change: cosine 1 and no difference, over a range of updates',
    { tags: 'release' },
    async () => {
      const before = await readdir(join(directory, 'checkpoints'));
      const { updates } = await run.whatIf({ from: 2, to: 3 });
      expect(updates.map(({ updateNumber }) => updateNumber)).toEqual([2, 3]);
      for (const { gradient, metrics, tokens, episodes, sameWeights } of updates) {
        expect(gradient.cosine).toBeCloseTo(1, 12);
        expect(gradient.changedNorm).toBe(gradient.recordedNorm);
        expect(gradient.recordedNorm).toBeGreaterThan(0);
        for (const layer of gradient.layers) expect(layer.changedNorm).toBe(layer.recordedNorm);
        for (const { recorded, changed } of metrics) expect(changed).toBe(recorded);
        expect(tokens).toMatchObject({ numCountedOnce: 0, flippedFraction: 0, maxAdvantageDifference: 0 });
        for (const { recordedAdvantage, changedAdvantage } of episodes)
          expect(changedAdvantage).toBe(recordedAdvantage);
        expect(sameWeights).toBe(true);
      }
      expect(await readdir(join(directory, 'checkpoints'))).toEqual(before);
    },
  );

  it(
    'have the same gradient under rewards that are scaled, as GRPO divides by their deviation',
    { tags: 'release' },
    async () => {
      const [{ gradient, tokens }] = (await run.whatIf({ from: 2 }, weightOf(5))).updates;
      expect(gradient.cosine).toBeCloseTo(1, 6);
      expect(gradient.changedNorm / gradient.recordedNorm).toBeCloseTo(1, 4);
      expect(tokens.maxAdvantageDifference).toBeLessThan(1e-4);
    },
  );

  it('have the opposite gradient under rewards that are negated', { tags: 'release' }, async () => {
    const [{ gradient, tokens, episodes, everyToken }] = (await run.whatIf({ from: 2 }, weightOf(-1)))
      .updates;
    expect(gradient.cosine).toBeCloseTo(-1, 6);
    for (const { cosine } of gradient.layers) if (cosine !== null) expect(cosine).toBeCloseTo(-1, 5);
    for (const episode of episodes) {
      expect(episode.changedReward).toBe(-episode.recordedReward);
      expect(episode.changedAdvantage).toBeCloseTo(-episode.recordedAdvantage, 5);
    }
    const moved = everyToken?.flatMap(({ recordedAdvantages }) => recordedAdvantages).filter((a) => a !== 0);
    expect(tokens.flippedFraction).toBeCloseTo((moved?.length ?? 0) / tokens.numTokens, 12);
  });

  it(
    'have the same gradient at their start under another clip, and clip other tokens later',
    { tags: 'release' },
    async () => {
      const [{ gradient, metrics }] = (
        await run.whatIf({ from: 2 }, 'loss.clipLow=0.001', 'loss.clipHigh=0.001')
      ).updates;
      expect(gradient.cosine).toBeCloseTo(1, 12);
      const clip = metrics.find(({ name }) => name === 'train/clipFraction');
      expect(clip?.changed).toBeGreaterThan(clip?.recorded ?? 1);
    },
  );

  it('refuse a change of what was decided before them', async () => {
    await expect(run.whatIf({ from: 1 }, 'collection.temperature=0.5')).rejects.toMatchObject({
      code: 'WHAT_IF_INVALID',
      message: expect.stringContaining("collection can't be changed") as string,
    });
    await expect(run.whatIf({ from: 9 })).rejects.toMatchObject({ code: 'UPDATE_UNKNOWN' });
  });
});

function mean(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
}
