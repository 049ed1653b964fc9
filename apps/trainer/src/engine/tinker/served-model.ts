import { readFile } from 'node:fs/promises';
import {
  resolveEngine,
  type EngineRecipe,
  type LoraRecipe,
  type PolicyRecipe,
  type Recipe,
} from '@retrace/config';
import { modelFingerprint, SafetensorsFile, type BaseModel, type TransformerConfig } from '@retrace/policy';
import {
  measureServer,
  TinkerClient,
  type ModelRequest,
  type ReadAdapterFile,
  type ServerPromises,
} from '@retrace/tinker';
import type { UsedEngine } from '@retrace/trajectory';
import { TrainerError } from '../../trainer-error.js';
import { hashModel, recipeModelConfig } from '../recipe-model.js';
import type { TensorflowEngineOptions } from '../tensorflow-engine.js';
import { opened } from './engine-error.js';

/** The model of a recipe, as the server and the trainer know it. */
export interface TinkerModel {
  readonly client: TinkerClient;
  readonly recipe: Recipe;
  readonly config: TransformerConfig;
  readonly base: BaseModel;
  readonly tokenizerHash: string;
  readonly modelHash: string;
  readonly request: ModelRequest;
  readonly promises: ServerPromises;
  readonly used: UsedEngine;
}

/** How long a server is waited for that starts again. */
const PATIENCE_MS = 600_000;
/** A command that begins or resumes a run tells soon that there is none. */
const FIRST_PATIENCE_MS = 30_000;
/** A call that finds nobody for so long counts the engine as lost; another one is opened then. */
const CALL_PATIENCE_MS = 30_000;
/** A bound that scales no gradient down. */
const NO_BOUND = 1e9;

/**
 * Checks before a run begins that its server can train the recipe as it stands.
 *
 * @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED` with the field of the recipe
 */
export async function requireServer(recipe: Recipe): Promise<void> {
  await measureFor(recipe, FIRST_PATIENCE_MS);
}

/**
 * Reaches the server of a recipe, measures what it does, and checks that it can train the recipe as it stands.
 *
 * @throws as `requireServer`; PolicyError for a model directory
 */
export async function openServedModel(options: TensorflowEngineOptions): Promise<TinkerModel> {
  const { recipe, vocabSize, tokenizerHash } = options;
  const { policy } = requireAdapters(recipe);
  const { request, promises } = await measureFor(recipe, PATIENCE_MS);
  const config = await recipeModelConfig(recipe, vocabSize);
  const base = { directory: policy.model, fingerprint: await modelFingerprint(policy.model) };
  const client = await openClient(resolveEngine(recipe), CALL_PATIENCE_MS);
  return {
    ...{ client, recipe, config, base, tokenizerHash, request, promises },
    modelHash: hashModel(config, tokenizerHash, base),
    used: {
      kind: 'tinker',
      version: `Tinker API, ${promises.reduction === 'sum' ? 'sums' : 'means over data'}`,
      device: new URL(client.url).host,
      numProcesses: 1,
      precision: 'as the server',
    },
  };
}

async function measureFor(
  recipe: Recipe,
  patienceMs: number,
): Promise<Pick<TinkerModel, 'request' | 'promises'>> {
  const engine = resolveEngine(recipe);
  const { policy, lora } = requireAdapters(recipe);
  const request = { baseModel: engine.baseModel ?? policy.model, rank: lora.rank, seed: recipe.seed };
  const client = await openClient(engine, patienceMs);
  try {
    const promises = await opened(() =>
      measureServer(client, { model: request, readAdapter: readAdapterFile }),
    );
    requireHonoured(recipe, lora, promises);
    return { request, promises };
  } finally {
    await client.close();
  }
}

/** A recipe without them is refused before the run. */
function requireAdapters({ policy }: Recipe): { readonly policy: PolicyRecipe; readonly lora: LoraRecipe } {
  if (policy?.lora) return { policy, lora: policy.lora };
  throw new TypeError('recipe.policy.lora: missing; a Tinker server trains adapters of a model directory');
}

async function openClient({ url, tokenFile }: EngineRecipe, patienceMs: number): Promise<TinkerClient> {
  if (url === undefined) {
    const message = 'engine.url: missing; name the address of the server, as with --engine-url';
    throw new TrainerError('ENGINE_REFUSED', message);
  }
  const apiKey = tokenFile === undefined ? undefined : await readKey(tokenFile);
  return new TinkerClient({ url, patienceMs, ...(apiKey === undefined ? {} : { apiKey }) });
}

async function readKey(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const message = `engine.tokenFile: got "${path}", which can't be read: ${(cause as Error).message}`;
    throw new TrainerError('ENGINE_REFUSED', message, { cause });
  }
}

/** Checks what only the server tells. */
function requireHonoured(
  { optimizer: { maxGradientNorm, weightDecay } }: Recipe,
  { alpha }: LoraRecipe,
  { loraAlpha, clipsGradients, reduction }: ServerPromises,
): void {
  if (alpha !== loraAlpha)
    throw refused('policy.lora.alpha', alpha, `must be ${loraAlpha}, as the server has it for all adapters`);
  // Only SkyRL's JAX back-end takes means over data.
  if (reduction === 'datumMean' && weightDecay !== 0)
    throw refused(
      'optimizer.weightDecay',
      weightDecay,
      'must be 0: the server shrinks all of its models by it',
    );
  if (!clipsGradients && maxGradientNorm < NO_BOUND) {
    const rule = `must be ${NO_BOUND}, which scales nothing down: the server ignores a bound of the norm`;
    throw refused('optimizer.maxGradientNorm', maxGradientNorm, rule);
  }
}

function refused(field: string, value: number | string, rule: string): TrainerError {
  return new TrainerError('ENGINE_REFUSED', `${field}: got ${value}, ${rule}`);
}

/** The tensors of an adapter's file. */
export const readAdapterFile: ReadAdapterFile = async (path) => {
  const file = await SafetensorsFile.open(path);
  try {
    const tensors = new Map<string, Float32Array>();
    for (const [name, { shape }] of file.header.entries) {
      const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
      await file.read(name, values);
      tensors.set(name, values);
    }
    return tensors;
  } finally {
    await file.close();
  }
};
