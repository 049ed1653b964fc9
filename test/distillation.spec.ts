import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { openRunSupply, startServer } from '@retrace/gateway/serve';
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
/** Another shape than that of the teacher, which a server lets read one token more than the policy. */
const STUDENT = [
  ...['model.numLayers=1', 'model.hiddenSize=32', 'model.intermediateSize=32', 'model.maxPositions=31'],
  'updateTokens=true',
];
const data = makeDataDirectory();
let run: InProcessRun;

let teacher: { readonly runId: string; readonly policyVersion: number };
/** As a recipe names it. */
let teacherPolicy: { readonly policy: object };
/** `train/teacherKl` of each update that the weights of the teacher taught. */
let kls: readonly number[];

function recipeOf(numUpdates: number, ...settings: readonly string[]) {
  return resolveRecipe('bandit-ppo', { numUpdates, assignments: [...COMMON, ...settings] });
}

const taughtBy = (named: object) => `distillation=${JSON.stringify({ teacher: named })}`;

async function metricOf(name: string): Promise<number[]> {
  const updates = await run.updates();
  return updates.map(({ metricNames, metricValues }) => metricValues[metricNames.indexOf(name)]);
}

const teacherKls = () => metricOf('train/teacherKl');

beforeAll(async () => {
  await openBackend();
  run = await InProcessRun.begin(data.path, recipeOf(1, IMITATION, 'model.maxPositions=32'));
  await run.work();
  const { policyVersionOut: policyVersion, weights } = (await run.updates())[7];
  teacher = { runId: run.id, policyVersion };
  teacherPolicy = { policy: { run: run.id, source: { ...teacher, ...weights } } };
  run = await run.beginAnother(recipeOf(NUM_UPDATES, ...STUDENT, taughtBy(teacherPolicy)));
  await run.work();
  kls = await teacherKls();
});

afterAll(async () => {
  await run.close();
  data.remove();
});

describe('a run that learns from the policy of another run', () => {
  it('comes near it without a reward, and keeps what the teacher said of each token', async () => {
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

describe('a run that learns from the likeliest tokens of a teacher', () => {
  it(
    'comes near it by the forward KL, keeps those tokens, and is replayed bit for bit',
    { timeout: 120_000 },
    async () => {
      const likeliest = 'distillation.topK=4';
      run = await run.beginAnother(
        recipeOf(12, ...STUDENT, taughtBy(teacherPolicy), likeliest, 'distillation.objective="forwardKl"'),
      );
      await run.work();
      const losses = await metricOf('train/distillationLoss');
      expect(losses).toHaveLength(12);
      expect(losses.at(-1)).toBeLessThan(losses[0] / 2);
      const tokenKls = await teacherKls();
      expect(tokenKls.at(-1)).toBeLessThan(tokenKls[0] / 2);
      // The log has the traces of the other runs, too.
      const traced = (await run.tokenTraces()).filter(({ teacherTopIds }) => teacherTopIds !== null);
      expect(traced).toHaveLength(12);
      for (const { teacherTopIds, teacherTopLogprobs, optimizerSteps } of traced) {
        expect(teacherTopIds).toHaveLength(4 * optimizerSteps.length);
        expect(teacherTopLogprobs?.every((logprob) => logprob <= 0)).toBe(true);
      }
      expect(await run.replay(3)).toMatchObject({ sameWeights: true, lossDifference: 0, sameTokens: true });
      expect(await run.replayAll()).toMatchObject({ numUpdates: 12, differing: [] });
    },
  );
});

describe('a run that a server teaches', () => {
  it(
    'learns what it learns from the weights, and its updates are made again without the server',
    { tags: 'release' },
    async () => {
      const { log, checkpoints } = run.source;
      const warnings: string[] = [];
      const warn = (message: string) => warnings.push(message);
      const supply = await openRunSupply({ log, checkpoints, ...teacher, warn });
      const server = await startServer(
        {
          ...{ host: '127.0.0.1', port: 0, allowedHosts: [], keyDirectory: null, concurrency: 16 },
          ...{ maxQueued: 64, contextLength: null, maxBodyBytes: 1e6, logprobsMode: 'raw_logprobs' },
        },
        supply,
        { version: 'test', warn },
      );
      const endpoint = { kind: 'vllm', url: server.url, model: supply.name };
      try {
        run = await run.beginAnother(recipeOf(6, ...STUDENT, taughtBy({ endpoint })));
        await run.work();
      } finally {
        await server.close();
      }
      const servedKls = await teacherKls();
      // Equal weights and episodes; later, rounding lets a token be sampled otherwise.
      expect(servedKls[0]).toBeCloseTo(kls[0], 5);
      servedKls.forEach((kl, i) => {
        expect(kl, `update ${i + 1}`).toBeCloseTo(kls[i], 1);
      });
      expect(await run.replay(3)).toMatchObject({ sameWeights: true, lossDifference: 0, sameTokens: true });
      expect(await run.replayAll()).toMatchObject({ numUpdates: 6, differing: [] });
      const { updates } = await run.whatIf({ from: 2 }, 'distillation.coefficient=2');
      const [{ gradient, sameWeights }] = updates;
      expect(sameWeights).toBe(true);
      expect(gradient.cosine).toBeCloseTo(1, 5);
      expect(gradient.changedNorm / gradient.recordedNorm).toBeCloseTo(2, 4);
      expect(warnings).toEqual([]);
    },
  );
});
