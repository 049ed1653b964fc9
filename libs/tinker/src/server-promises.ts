import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteCheckpoint, downloadAdapter, type DownloadedAdapter } from './adapter-archive.js';
import { makeDatum, type Datum } from './datum.js';
import type { TinkerClient } from './tinker-client.js';
import { TinkerError } from './tinker-error.js';
import type { TrainingModel } from './training-model.js';
import { NO_CHANGE, TrainingSession, type ModelRequest } from './training-session.js';

/** How gradients of data add up until a step: as a `sum` over targets, or as the mean over data of the mean over each one's targets. */
export type Reduction = 'sum' | 'datumMean';

/** Behaviour of a server as it was measured; the API leaves each of it open. */
export interface ServerPromises {
  readonly reduction: Reduction;
  /** Whether a numbered call that is sent again is answered again, and applied once. */
  readonly repeatsAnswers: boolean;
  /** Whether gradients are scaled down to `grad_clip_norm`. */
  readonly clipsGradients: boolean;
  /** Of its adapters. */
  readonly loraAlpha: number;
}

/** Reads the weights of adapter files, of which this library knows nothing. */
export type ReadAdapterFile = (path: string) => Promise<ReadonlyMap<string, Float32Array>>;

export interface MeasureOptions {
  readonly model: Pick<ModelRequest, 'baseModel' | 'rank'>;
  readonly readAdapter: ReadAdapterFile;
}

/** Tokens that every vocabulary has. */
export const TOKENS = Int32Array.of(1, 2, 3, 4, 5, 6);
export const NUM_TARGETS = TOKENS.length - 1;
const SEED = 1;
/** The only target with an advantage. */
const TRAINED = NUM_TARGETS - 1;
/** Norms that ought to be equal differ by rounding only; those that are not differ by factors of 2 and more. */
const TOLERANCE = 0.02;

const LEARNING_RATE = 0.01;
/** So much more than any gradient that a first step of AdamW is learningRate · gradient / epsilon. */
const EPSILON = 1e7;
const LARGE = 1e3;
const CLIPPED = 0.01;

/** The metric with which servers report the norm of a step's gradients. */
const NORM_METRIC = /(^|[/.:])grad_norm\b/;

/** The norm of a step's gradients before any scaling. @throws TinkerError `MALFORMED_ANSWER` where the server reports none */
export function findGradientNorm(metrics: ReadonlyMap<string, number>): number {
  for (const [name, value] of metrics) if (NORM_METRIC.test(name)) return value;
  const names = [...metrics.keys()].join(', ') || 'none';
  throw new TinkerError(
    'MALFORMED_ANSWER',
    `optim_step reports no norm of the gradients; its metrics: ${names}`,
  );
}

/** Names of the base models that a server has. @throws TinkerError */
export async function listBaseModels(client: TinkerClient): Promise<readonly string[]> {
  const { supported_models: models } = await client.call('get_server_capabilities', undefined, {
    method: 'GET',
  });
  const entries = Array.isArray(models) ? (models as readonly { readonly model_name?: unknown }[]) : [];
  return entries.flatMap(({ model_name: name }) => (typeof name === 'string' ? [name] : []));
}

/**
 * Measures what a server does with gradients and steps, on models of its own that it unloads.
 *
 * @throws TinkerError `REFUSED` for a base model that the server does not name, and for a server that does what no trainer can account for, with the figures
 */
export async function measureServer(
  client: TinkerClient,
  { model: request, readAdapter }: MeasureOptions,
): Promise<ServerPromises> {
  await requireBaseModel(client, request.baseModel);
  const session = await TrainingSession.open(client, { repeatsAnswers: false });
  const directory = await mkdtemp(join(tmpdir(), 'retrace-tinker-'));
  try {
    const model = await session.createTrained({ ...request, seed: SEED });
    const norms = await measureNorms(model);
    const repeatsAnswers = await measureRepeats(client, model, norms.one);
    const optimizer = await measureOptimizer(client, { model, norm: norms.one, directory, readAdapter });
    return { reduction: inferReduction(norms), repeatsAnswers, ...optimizer };
  } finally {
    await session.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** SkyRL takes any name, and trains the model that it has. */
async function requireBaseModel(client: TinkerClient, name: string): Promise<void> {
  const known = await listBaseModels(client).catch((error: unknown) => {
    if (!(error instanceof TinkerError && error.code === 'MODEL_LOST')) throw error;
    throw new TinkerError('REFUSED', `no server of the Tinker API answers at ${client.url}`, {
      cause: error,
    });
  });
  if (known.includes(name)) return;
  throw new TinkerError(
    'REFUSED',
    `the server has no base model "${name}"; it has ${known.join(', ') || 'none'}`,
  );
}

/** One trained target among `numCounted` that the mask counts; the model's own logprobs, so that each ratio is 1. */
function probe(logprobs: Float32Array, numCounted: number, advantage = 1): Datum {
  return makeDatum({
    tokenIds: TOKENS,
    mask: Uint8Array.from(TOKENS.subarray(1), (_, n) => Number(n >= NUM_TARGETS - numCounted)),
    logprobs,
    advantages: Float32Array.from(TOKENS.subarray(1), (_, n) => (n === TRAINED ? advantage : 0)),
  });
}

interface MeasuredNorms {
  /** Of one datum whose mask counts one target. */
  readonly one: number;
  /** Of the same datum twice. */
  readonly twice: number;
  /** Of one datum whose mask counts four targets, of which one is trained. */
  readonly diluted: number;
}

/** Steps at a learning rate of 0 tell norms and leave the weights. */
async function measureNorms(model: TrainingModel): Promise<MeasuredNorms> {
  const [logprobs] = await model.forward([[probe(new Float32Array(NUM_TARGETS), 1)]]);
  const one = probe(logprobs, 1);
  const normOf = async (data: readonly Datum[]) => findGradientNorm(await model.step([data], NO_CHANGE));
  return {
    one: await normOf([one]),
    twice: await normOf([one, one]),
    diluted: await normOf([probe(logprobs, 4)]),
  };
}

function inferReduction({ one, twice, diluted }: MeasuredNorms): Reduction {
  const isAbout = (value: number, expected: number) => Math.abs(value / expected - 1) < TOLERANCE;
  if (isAbout(twice, 2 * one) && isAbout(diluted, one)) return 'sum';
  if (isAbout(twice, one) && isAbout(diluted, one / 4)) return 'datumMean';
  throw new TinkerError(
    'REFUSED',
    `the server adds gradients up in a way that is not known: norm ${one} for one datum, ${twice} for the same one twice, ` +
      `${diluted} where it counts four targets instead of one; known are sums, and means over data of means over targets`,
  );
}

async function measureRepeats(client: TinkerClient, model: TrainingModel, norm: number): Promise<boolean> {
  const [logprobs] = await model.forward([[probe(new Float32Array(NUM_TARGETS), 1)]]);
  const data = [probe(logprobs, 1)];
  const first = await model.beginBackward(data);
  const again = await model.repeatBackward(data).catch((error: unknown) => {
    if (error instanceof TinkerError && error.code === 'REFUSED') return null;
    throw error;
  });
  await client.result(first, 'forward_backward');
  if (again !== null) await client.result(again, 'forward_backward');
  const made = findGradientNorm(await model.step([], NO_CHANGE));
  // A mean over data is the same where it was applied twice: then the ids of the requests tell.
  return again?.requestId === first.requestId && Math.abs(made / norm - 1) < TOLERANCE;
}

interface OptimizerOptions {
  readonly model: TrainingModel;
  readonly norm: number;
  readonly directory: string;
  readonly readAdapter: ReadAdapterFile;
}

/** Compares the adapter before and after a step whose result is known but for the norm that the server scaled the gradients to. */
async function measureOptimizer(
  client: TinkerClient,
  { model, norm, directory, readAdapter }: OptimizerOptions,
): Promise<Pick<ServerPromises, 'clipsGradients' | 'loraAlpha'>> {
  const before = await exportAdapter(client, model, directory);
  const [logprobs] = await model.forward([[probe(new Float32Array(NUM_TARGETS), 1)]]);
  // So large that a bound of the server's own would show.
  await model.step([[probe(logprobs, 1, LARGE)]], {
    learningRate: LEARNING_RATE,
    // Without memory, the steps before don't count.
    ...{ beta1: 0, beta2: 0, epsilon: EPSILON },
    // SkyRL's JAX back-end would shrink the adapters of all models by it, those of other sessions too.
    weightDecay: 0,
    maxGradientNorm: CLIPPED * LARGE * norm,
  });
  const after = await readAdapter((await exportAdapter(client, model, directory)).weights);
  const moved = normOfB(after) / ((LEARNING_RATE * LARGE * norm) / EPSILON);
  const clipsGradients = Math.abs(moved / CLIPPED - 1) < TOLERANCE;
  if (clipsGradients || Math.abs(moved - 1) < TOLERANCE) return { clipsGradients, loraAlpha: before.alpha };
  throw new TinkerError(
    'REFUSED',
    `the server's optimizer steps ${moved.toPrecision(3)} times as far as AdamW with the settings that were asked for; it takes some from elsewhere, such as epsilon or a bound of the gradient norm`,
  );
}

/** The matrices A have no gradient while those B are 0. */
function normOfB(weights: ReadonlyMap<string, Float32Array>): number {
  let squares = 0;
  for (const [name, values] of weights)
    if (name.includes('lora_B')) for (const value of values) squares += value * value;
  return Math.sqrt(squares);
}

/** The model's adapter, in a directory of its own below this one. */
async function exportAdapter(
  client: TinkerClient,
  model: TrainingModel,
  below: string,
): Promise<DownloadedAdapter> {
  const path = await model.saveForSampler();
  const directory = await mkdtemp(join(below, 'adapter-'));
  try {
    return await downloadAdapter(client, path, directory);
  } finally {
    await deleteCheckpoint(client, path);
  }
}
