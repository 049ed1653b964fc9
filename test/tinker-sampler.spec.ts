import { resolveRecipe } from '@retrace/config';
import { LORA_TARGETS } from '@retrace/policy';
import { TinkerClient, TrainingSession } from '@retrace/tinker';
import { afterEach, expect, it } from 'vitest';
import { TinkerSampler } from '../apps/collector/src/actors/tinker-sampler.js';
import { TinkerStandIn } from '../libs/tinker/src/testing/tinker-stand-in.js';

/* The sampler against a stand-in of a server. In a whole run against the real one: `npm run test:long -- tinker`. */

const BASE_MODEL = new URL('golden/policy/models/qwen3', import.meta.url).pathname;
const CONTEXT = [3, 4, 5];
const TURN = {
  ...{ tokenIds: CONTEXT, temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 4 },
  ...{ stopTokenIds: [], stopStrings: [], seed: 2 ** 32 - 1 },
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openSampler() {
  const server = await TinkerStandIn.start({
    ...{ baseModel: BASE_MODEL, reduction: 'datumMean', clipsGradients: false, repeatsAnswers: true },
  });
  closing.push(() => server.stop());
  const lora = JSON.stringify({ rank: 4, alpha: 32, targets: LORA_TARGETS });
  const recipe = resolveRecipe('bandit-ppo', {
    assignments: [
      ...[
        'model=null',
        'context.tokenizer=model',
        `policy={"model":"${BASE_MODEL}","maxPositions":64,"lora":${lora}}`,
      ],
      ...['loss.valueCoefficient=0', 'loss.entropyCoefficient=0', 'optimizer.maxGradientNorm=1e9'],
      'advantage={"estimator":"reinforcePlusPlus","options":{}}',
      ...[`engine={"kind":"tinker","url":"${server.url}"}`, 'collection.endpoint={"kind":"tinker"}'],
    ],
  });
  const sampler = await TinkerSampler.open(recipe);
  closing.push(() => sampler.close());
  return { server, sampler };
}

/** Saves states of a model that is trained between them, as a trainer does, and returns their places. */
async function trainedStates(url: string, number: number): Promise<readonly string[]> {
  const client = new TinkerClient({ url });
  const session = await TrainingSession.open(client, { repeatsAnswers: true });
  const model = await session.createModel({ baseModel: BASE_MODEL, rank: 4, seed: 1 });
  const parameters = { learningRate: 0.5, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0 };
  const column = (value: number) => ({
    data: [value, value],
    dtype: 'float32' as const,
    shape: [2] as const,
  });
  const states = [];
  for (let n = 0; n < number; n++) {
    const inputs = { weights: column(1), logprobs: column(-3), advantages: column(1) };
    const targets = { data: [7, 7], dtype: 'int64' as const, shape: [2] as const };
    const datum = {
      model_input: { chunks: [{ type: 'encoded_text' as const, tokens: [1, 7] }] as const },
      loss_fn_inputs: { target_tokens: targets, ...inputs },
    };
    await model.step([[datum]], { ...parameters, maxGradientNorm: 0 });
    states.push(await model.saveState());
  }
  await session.close();
  await client.close();
  return states;
}

it('samples each version from its own weights, side by side, and tells their logprobs', async () => {
  const { server, sampler } = await openSampler();
  const [first, second] = await trainedStates(server.url, 2);
  for (const [name, location] of [
    ['retrace-run-1', first],
    ['retrace-run-2', second],
  ])
    expect(await sampler.deliver({ name, location, directory: '' })).toEqual({ version: name, model: name });
  const scores = [];
  for (const model of ['retrace-run-1', 'retrace-run-2', 'retrace-run-1'])
    scores.push((await sampler.score({ tokenIds: [1, 7, 7], model })).logprobs);
  expect(scores[0]).toEqual(scores[2]);
  expect(scores[0][0]).toBeNaN();
  // Token 7 was praised in each step.
  expect(scores[1][1]).toBeGreaterThan(scores[0][1]);

  const turn = await sampler.generate({ ...TURN, model: 'retrace-run-2' });
  expect(turn).toMatchObject({ versions: null, stopReason: 'length' });
  expect(turn.tokenIds.length).toBe(4);
  const { logprobs: scored } = await sampler.score({
    tokenIds: [...CONTEXT, ...turn.tokenIds],
    model: 'retrace-run-2',
  });
  turn.logprobs.forEach((logprob, n) => {
    expect(logprob).toBeCloseTo(scored[CONTEXT.length + n], 6);
  });
  const stopped = await sampler.generate({
    ...TURN,
    model: 'retrace-run-2',
    stopTokenIds: [turn.tokenIds[0]],
  });
  expect(stopped).toMatchObject({ stopReason: 'stopToken', tokenIds: turn.tokenIds.slice(0, 1) });
});

it('finds out that a server has lost its weights, and brings them again', async () => {
  const { server, sampler } = await openSampler();
  const [location] = await trainedStates(server.url, 1);
  const weights = { name: 'retrace-run-1', location, directory: '' };
  expect(await sampler.serving(weights.name)).toBeNull();
  await sampler.deliver(weights);
  expect(await sampler.serving(weights.name)).toBe(weights.name);
  const before = await sampler.score({ tokenIds: [1, 7], model: weights.name });
  server.restart();
  await expect(sampler.generate({ ...TURN, model: weights.name })).rejects.toMatchObject({ status: 404 });
  expect(await sampler.serving(weights.name)).toBeNull();
  await sampler.deliver(weights);
  expect(await sampler.score({ tokenIds: [1, 7], model: weights.name })).toEqual(before);
});

it('takes versions away that no turn needs, and leaves none behind', async () => {
  const { server, sampler } = await openSampler();
  const [first, second] = await trainedStates(server.url, 2);
  await sampler.deliver({ name: 'retrace-run-1', location: first, directory: '' });
  await sampler.deliver({ name: 'retrace-run-1', location: first, directory: '' });
  await sampler.deliver({ name: 'retrace-run-2', location: second, directory: '' });
  expect(server.numModels).toBe(2);
  await sampler.retire('retrace-run-1');
  expect(server.numModels).toBe(1);
  await expect(sampler.generate({ ...TURN, model: 'retrace-run-1' })).rejects.toMatchObject({ status: 404 });
  await sampler.close();
  expect(server.numModels).toBe(0);
});
