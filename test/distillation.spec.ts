import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { makeDataDirectory } from './support/cli.mjs';
import { InProcessRun } from './support/in-process-run.js';

const COMMON = [
  ...['collection.groupsPerRound=64', 'collection.concurrentEpisodes=64', 'optimizer.epochs=1'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'optimizer.learningRate=0.01'],
  ...['optimizer.warmupFraction=0', 'loss.entropyCoefficient=0', 'loss.valueCoefficient=0'],
  ...['advantage.estimator="reinforcePlusPlus"', 'advantage.options={}'],
];
const IMITATION =
  'imitation={"agent":"expert","numEpisodes":64,"numUpdates":8,"episodesPerUpdate":64,"learningRate":0.01}';
const NUM_UPDATES = 24;
const data = makeDataDirectory();
let run: InProcessRun;

afterAll(async () => {
  await run.close();
  data.remove();
});

describe('a run that learns from the policy of another run', () => {
  beforeAll(async () => {
    await openBackend();
    const recipeOf = (numUpdates: number, ...settings: readonly string[]) =>
      resolveRecipe('bandit-ppo', { numUpdates, assignments: [...COMMON, ...settings] });
    run = await InProcessRun.begin(data.path, recipeOf(1, IMITATION));
    await run.work();
    const { policyVersionOut: policyVersion, weights } = (await run.updates())[7];
    const policy = { run: run.id, source: { runId: run.id, policyVersion, ...weights } };
    // Another shape than that of the teacher.
    const student = ['model.numLayers=1', 'model.hiddenSize=32', 'model.intermediateSize=32'];
    const distillation = `distillation=${JSON.stringify({ teacher: { policy } })}`;
    run = await run.beginAnother(recipeOf(NUM_UPDATES, ...student, distillation, 'updateTokens=true'));
    await run.work();
  });

  it('comes near it without a reward, and keeps what the teacher said of each token', async () => {
    const kls = (await run.updates()).map(
      ({ metricNames, metricValues }) => metricValues[metricNames.indexOf('train/teacherKl')],
    );
    expect(kls).toHaveLength(NUM_UPDATES);
    expect(kls.at(-1)).toBeLessThan(kls[0] / 2);
    const traced = await run.tokenTraces();
    for (const { teacherLogprobs, optimizerSteps } of traced) {
      expect(teacherLogprobs).toHaveLength(optimizerSteps.length);
      expect(teacherLogprobs?.every((logprob) => logprob <= 0)).toBe(true);
    }
  });

  it('is replayed bit for bit, with the same teacher', async () => {
    expect(await run.replay(3)).toMatchObject({ sameWeights: true, lossDifference: 0, sameTokens: true });
    expect(await run.replayAll()).toMatchObject({ numUpdates: NUM_UPDATES, differing: [] });
  });
});
