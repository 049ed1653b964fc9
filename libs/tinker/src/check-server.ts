import { makeDatum } from './datum.js';
import { sampleTokens } from './sample-tokens.js';
import {
  measureServer,
  NUM_TARGETS,
  TOKENS,
  type MeasureOptions,
  type ServerPromises,
} from './server-promises.js';
import type { TinkerClient } from './tinker-client.js';
import { TinkerError } from './tinker-error.js';
import type { TrainingModel } from './training-model.js';
import { TrainingSession } from './training-session.js';

/** Promises of a server as they were measured, with those that only matter to those who sample or resume. */
export interface CheckedServer extends ServerPromises {
  /** Largest difference of a logprob between a model and another one that continues from its saved state, after a step of both; nats. */
  readonly resumedDifference: number;
  /** Whether a policy that was saved for samplers stays as it was when its model is trained further; null where the server samples without logprobs of the context. */
  readonly keepsSnapshots: boolean | null;
}

const SEED = 2;
const STEP = {
  ...{ learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 },
  ...{ weightDecay: 0, maxGradientNorm: 0 },
};
/** The step moves logprobs by a hundred times as much. */
const SAME = 1e-3;

/**
 * Measures what a server does, on models of its own that it unloads.
 *
 * @throws TinkerError as `measureServer`
 */
export async function checkServer(client: TinkerClient, options: MeasureOptions): Promise<CheckedServer> {
  const promises = await measureServer(client, options);
  const session = await TrainingSession.open(client, promises);
  try {
    const request = { ...options.model, seed: SEED };
    const model = await session.createTrained(request);
    await step(model);
    const path = await model.saveState();
    const policy = await model.saveForSampler();
    const before = await contextLogprobs(client, policy);
    const resumed = await session.resumeTrained(request, path);
    await step(model);
    await step(resumed);
    return {
      ...promises,
      resumedDifference: largestDifference(await requestLogprobs(model), await requestLogprobs(resumed)),
      // Asked last: SkyRL gives the model that is trained the weights of the policy that samples.
      keepsSnapshots: before && (await isStill(before, client, policy)),
    };
  } finally {
    await session.close();
  }
}

async function requestLogprobs(model: TrainingModel): Promise<Float32Array> {
  const mask = new Uint8Array(NUM_TARGETS).fill(1);
  return (await model.forward([[makeDatum({ tokenIds: TOKENS, mask })]]))[0];
}

async function step(model: TrainingModel): Promise<void> {
  const logprobs = await requestLogprobs(model);
  const mask = new Uint8Array(NUM_TARGETS).fill(1);
  const advantages = Float32Array.from(mask, (_, n) => (n % 2 === 0 ? 1 : -1));
  await model.step([[makeDatum({ tokenIds: TOKENS, mask, logprobs, advantages })]], STEP);
}

async function isStill(before: Float32Array, client: TinkerClient, policy: string): Promise<boolean | null> {
  const after = await contextLogprobs(client, policy);
  return after && largestDifference(before, after) < SAME;
}

/** Null where the server does not tell them. */
async function contextLogprobs(client: TinkerClient, path: string): Promise<Float32Array | null> {
  const request = {
    ...{ path, tokenIds: TOKENS, maxTokens: 1, temperature: 1, topK: -1, topP: 1 },
    ...{ seed: SEED, stop: [], promptLogprobs: true },
  };
  const sampled = await sampleTokens(client, request).catch((error: unknown) => {
    if (error instanceof TinkerError && error.code !== 'NO_ANSWER') return null;
    throw error;
  });
  const logprobs = sampled?.promptLogprobs?.slice(1) ?? null;
  return logprobs?.every(Number.isFinite) ? logprobs : null;
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, n) => Math.max(largest, Math.abs(value - b[n])), 0);
}
