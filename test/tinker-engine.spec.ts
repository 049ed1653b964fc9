import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { CheckpointFiles, LORA_TARGETS } from '@retrace/policy';
import { TinkerEngine } from '@retrace/trainer/tinker';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { describeUpdateEngine } from '../apps/trainer/src/engine/update-engine.contract.js';
import { TinkerStandIn, type StandInOptions } from '../libs/tinker/src/testing/tinker-stand-in.js';

/* The engine against a stand-in of a server, for faults and for servers that nobody has here. The real one: `npm run test:long -- tinker`. */

const BASE_MODEL = new URL('golden/policy/models/qwen3', import.meta.url).pathname;
const VOCAB_SIZE = 32;
const directory = mkdtempSync(join(tmpdir(), 'retrace-tinker-engine-'));
const checkpoints = new CheckpointFiles(join(directory, 'checkpoints'));
const HONEST: StandInOptions = {
  ...{ baseModel: BASE_MODEL, reduction: 'datumMean', clipsGradients: false, repeatsAnswers: true },
};

const servers: TinkerStandIn[] = [];
const engines: TinkerEngine[] = [];
const start = async (options: Partial<StandInOptions> = {}) => {
  const server = await TinkerStandIn.start({ ...HONEST, ...options });
  servers.push(server);
  return server;
};
afterEach(async () => {
  await Promise.allSettled(engines.splice(0).map((engine) => engine.close()));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(directory, { recursive: true, force: true });
});

function servedRecipe({ url }: TinkerStandIn, ...assignments: string[]): Recipe {
  const lora = JSON.stringify({ rank: 4, alpha: 32, targets: LORA_TARGETS });
  return resolveRecipe('bandit-ppo', {
    assignments: [
      ...[
        'model=null',
        'context.tokenizer=model',
        `policy={"model":"${BASE_MODEL}","maxPositions":64,"lora":${lora}}`,
      ],
      ...['loss.valueCoefficient=0', 'loss.entropyCoefficient=0', 'optimizer.maxGradientNorm=1e9'],
      'advantage={"estimator":"reinforcePlusPlus","options":{}}',
      ...['engine.kind=tinker', `engine.url=${url}`, ...assignments],
    ],
  });
}

async function open(server: TinkerStandIn, ...assignments: string[]): Promise<TinkerEngine> {
  const recipe = servedRecipe(server, ...assignments);
  const engine = await TinkerEngine.open({ recipe, checkpoints, vocabSize: VOCAB_SIZE, tokenizerHash: '' });
  engines.push(engine);
  return engine;
}

const BATCH = { tokenIds: Int32Array.of(3, 5, 7, 9, 11), sequenceOffsets: Int32Array.of(0, 3, 5) };
const MASK = Uint8Array.of(0, 1, 1, 0, 1);
const LOSS = {
  ...{ policyLoss: 'ppo', policyLossOptions: { clipLow: 0.2, clipHigh: 0.2, dualClip: null } },
  ...{
    valueCoefficient: 0,
    valueClip: null,
    entropyCoefficient: 0,
    klCoefficient: 0,
    klEstimator: 'k3' as const,
  },
  ...{ klStraightThrough: false, temperature: 1 },
};
const STEP = { learningRate: 0.05, maxGradientNorm: 1e9 };

async function logprobsOf(engine: TinkerEngine): Promise<Float32Array> {
  return (await engine.evaluate(BATCH, { temperature: 1, mask: MASK })).logprobs;
}

async function train(engine: TinkerEngine): Promise<number> {
  const proximalLogprobs = await logprobsOf(engine);
  const column = (values: readonly number[]) => Float32Array.from(values);
  const batch = {
    ...{ ...BATCH, proximalLogprobs, referenceLogprobs: null, returns: null, proximalValues: null },
    ...{ lossWeights: column([0, 0.5, 0.25, 0, 1]), advantages: column([0, 1, -2, 0, 0.5]) },
  };
  await engine.accumulate(batch, LOSS);
  return (await engine.step(STEP)).gradientNorm;
}

for (const reduction of ['datumMean', 'sum'] as const) {
  const server = await start({ reduction, clipsGradients: reduction === 'sum' });
  describeUpdateEngine(`of Tinker, on a server of ${reduction}s`, {
    open: () => open(server),
    vocabSize: VOCAB_SIZE,
    isDeterministic: false,
    lacks: [
      ...(['gradients', 'critic', 'entropy', 'squaredProbabilities'] as const),
      ...(['movingReference', 'skippedSteps', 'distillation'] as const),
    ],
  });
}

describe('the Tinker engine', () => {
  it('makes the same step on a server of means and on one of sums', async () => {
    const trained = [];
    const norms = [];
    for (const reduction of ['datumMean', 'sum'] as const) {
      const engine = await open(await start({ reduction }));
      norms.push(await train(engine));
      trained.push(await logprobsOf(engine));
    }
    // Adam's first step tells little of the size of a gradient.
    expect(norms[0] / norms[1]).toBeCloseTo(1, 5);
    const [ofMeans, ofSums] = trained;
    ofMeans.forEach((logprob, n) => {
      expect(logprob).toBeCloseTo(ofSums[n], 5);
    });
    expect(ofMeans[1]).toBeGreaterThan(-Math.log(VOCAB_SIZE));
  });

  it.each([
    [{ epsilonFactor: 1e-6 }, [], /optimizer steps .* times as far as AdamW/],
    [{}, ['policy.lora.alpha=16'], /policy\.lora\.alpha: got 16, must be 32/],
    [{}, ['optimizer.maxGradientNorm=1'], /optimizer\.maxGradientNorm: got 1, must be 1000000000/],
    [{}, ['optimizer.weightDecay=0.1'], /optimizer\.weightDecay: got 0\.1, must be 0/],
    [{}, ['engine.baseModel=other'], /no base model "other"; it has .*qwen3/],
  ] as const)(
    'refuses before the first update what the server does not honour: %j %j',
    async (options, settings, reason) => {
      const server = await start(options);
      await expect(open(server, ...settings)).rejects.toMatchObject({
        code: 'ENGINE_REFUSED',
        message: expect.stringMatching(reason) as string,
      });
      expect(server.numModels).toBe(0);
    },
  );

  it.each([true, false])(
    'applies each call once although answers are lost, on a server that repeats them: %s',
    async (repeatsAnswers) => {
      const calls: string[] = [];
      const lost = new Set<string>();
      let isLosing = false;
      const server = await start({
        repeatsAnswers,
        fate: (path) => {
          calls.push(path);
          if (!isLosing || lost.has(path) || path.endsWith('archive')) return 'answer';
          lost.add(path);
          return 'lose';
        },
      });
      const engine = await open(server);
      const saved = await engine.save();
      const without = await open(await start());
      await train(without);
      isLosing = true;
      const made = train(engine);
      if (repeatsAnswers) {
        await made;
        expect(await logprobsOf(engine)).toEqual(await logprobsOf(without));
        expect((await engine.save()).weights).toEqual((await without.save()).weights);
      } else {
        // Whether the gradients were added is unknown: the update is made again from the last state.
        await expect(made).rejects.toMatchObject({ code: 'ENGINE_LOST' });
        isLosing = false;
        const next = await open(server);
        await next.load(saved);
        await train(next);
        expect(await logprobsOf(next)).toEqual(await logprobsOf(without));
      }
      expect(lost.has('forward_backward')).toBe(true);
    },
  );

  it('never trains on gradients that a broken-off step left in the server', async () => {
    let isBroken = false;
    const fate = (path: string) => (isBroken && path === 'optim_step' ? { status: 400 } : 'answer');
    const server = await start({ fate });
    const engine = await open(server);
    const saved = await engine.save();
    isBroken = true;
    await expect(train(engine)).rejects.toMatchObject({ code: 'ENGINE_LOST' });
    isBroken = false;
    // Their places are given to the models of the next engine.
    await engine.close();
    const next = await open(server);
    await next.load(saved);
    const clean = await open(await start());
    expect(await train(next)).toBeCloseTo(await train(clean), 6);
    expect(await logprobsOf(next)).toEqual(await logprobsOf(clean));
  });

  it('is lost with its model, and another goes on from the last saved state', async () => {
    const server = await start();
    const engine = await open(server);
    await train(engine);
    const saved = await engine.save();
    const expected = await logprobsOf(engine);
    server.restart();
    await expect(logprobsOf(engine)).rejects.toMatchObject({ code: 'ENGINE_LOST' });
    const next = await open(server);
    await next.load(saved);
    expect(await logprobsOf(next)).toEqual(expected);
    expect(next.location).toMatch(/^tinker:\/\/model-\d+\/weights\//);
  });

  it('is lost, and not the run, with an archive that breaks off in the middle', async () => {
    let isCutting = false;
    const server = await start({
      fate: (path) => (isCutting && path.endsWith('archive') ? 'cut' : 'answer'),
    });
    const engine = await open(server);
    isCutting = true;
    await expect(engine.save()).rejects.toMatchObject({ code: 'ENGINE_LOST' });
    isCutting = false;
    expect((await engine.save()).weights).toEqual(await engine.nameWeights());
  });

  it('says that a state of another engine, or one that the server lost, is not to be had', async () => {
    const [server, other] = [await start(), await start()];
    const [engine, elsewhere] = [await open(server), await open(other)];
    const saved = await engine.save();
    const message = expect.stringContaining(`the server at ${server.url} kept the state tinker://`) as string;
    await expect(elsewhere.load(saved)).rejects.toMatchObject({ code: 'CHECKPOINT_LOST', message });
    const ofOther = { weights: saved.weights, optimizer: saved.weights };
    await expect(engine.load(ofOther)).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
    await train(engine);
  });

  it('forgets a state in the server, and no other', async () => {
    const server = await start();
    const engine = await open(server);
    const [first, location] = [await engine.save(), engine.location];
    await train(engine);
    const second = await engine.save();
    expect(server.numStates).toBe(2);
    await engine.forget(location);
    await engine.forget('s3://bucket/of-another-trainer');
    expect(server.numStates).toBe(1);
    await engine.load(second);
    await expect(engine.load(first)).rejects.toMatchObject({ code: 'CHECKPOINT_LOST' });
  });

  it('leaves no model in the server', async () => {
    const server = await start();
    const engine = await open(server);
    const saved = await engine.save();
    const policy = { weights: saved.weights, location: engine.location };
    await engine.evaluateReference(policy, BATCH, { temperature: 1, mask: MASK });
    expect(server.numModels).toBe(2);
    await engine.close();
    expect(server.numModels).toBe(0);
  });
});
