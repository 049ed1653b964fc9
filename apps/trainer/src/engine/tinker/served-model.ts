import { readFile } from 'node:fs/promises';
import {
  engineOf,
  type EngineRecipe,
  type LoraRecipe,
  type PolicyRecipe,
  type Recipe,
} from '@retrace/config';
import {
  LORA_TARGETS,
  modelFingerprint,
  SafetensorsFile,
  type BaseModel,
  type TransformerConfig,
} from '@retrace/policy';
import {
  measureServer,
  TinkerClient,
  type ModelRequest,
  type ReadAdapterFile,
  type ServerPromises,
} from '@retrace/tinker';
import type { UsedEngine } from '@retrace/trajectory';
import { TrainerError } from '../../trainer-error.js';
import { modelHashOf, recipeModelConfig } from '../recipe-model.js';
import type { TensorflowEngineOptions } from '../tensorflow-engine.js';
import { asked } from './engine-error.js';

/** The model of a recipe, as the server and the trainer know it. */
export interface ServedModel {
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
/** A bound that scales no gradient down. */
const NO_BOUND = 1e9;

/**
 * Reaches the server of a recipe, measures what it does, and checks that it can train the recipe as it stands.
 *
 * @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED` with the field of the recipe; PolicyError for a model directory
 */
export async function openServedModel(options: TensorflowEngineOptions): Promise<ServedModel> {
  const { recipe, vocabSize, tokenizerHash } = options;
  const engine = engineOf(recipe);
  const { policy, lora } = adaptersOf(recipe);
  const client = await openClient(engine);
  try {
    const request = { baseModel: engine.baseModel ?? policy.model, rank: lora.rank, seed: recipe.seed };
    const promises = await asked(
      () => measureServer(client, { model: request, readAdapter: readAdapterFile }),
      'ENGINE_UNAVAILABLE',
    );
    requireHonoured(recipe, lora, promises);
    const config = await recipeModelConfig(recipe, vocabSize);
    const base = { directory: policy.model, fingerprint: await modelFingerprint(policy.model) };
    return {
      ...{ client, recipe, config, base, tokenizerHash, request, promises },
      modelHash: modelHashOf(config, tokenizerHash, base),
      used: {
        kind: 'tinker',
        version: `Tinker API, ${promises.reduction === 'sum' ? 'sums' : 'means over data'}`,
        device: new URL(client.url).host,
        numProcesses: 1,
        precision: 'as the server',
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A recipe without them is refused before the run. */
function adaptersOf({ policy }: Recipe): { readonly policy: PolicyRecipe; readonly lora: LoraRecipe } {
  if (policy?.lora) return { policy, lora: policy.lora };
  throw new TypeError('recipe.policy.lora: missing; a Tinker server trains adapters of a model directory');
}

async function openClient({ url, tokenFile }: EngineRecipe): Promise<TinkerClient> {
  if (url === undefined) {
    const message = 'engine.url: missing; name the address of the server that made the update';
    throw new TrainerError('ENGINE_REFUSED', message);
  }
  const apiKey = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim();
  return new TinkerClient({ url, patienceMs: PATIENCE_MS, ...(apiKey === undefined ? {} : { apiKey }) });
}

/** Checks what only the server tells. */
function requireHonoured(
  { optimizer: { maxGradientNorm, weightDecay } }: Recipe,
  { alpha, targets }: LoraRecipe,
  { loraAlpha, clipsGradients, reduction }: ServerPromises,
): void {
  if (alpha !== loraAlpha)
    throw refused('policy.lora.alpha', alpha, `must be ${loraAlpha}, as the server has it for all adapters`);
  if (targets.length !== LORA_TARGETS.length) {
    const all = LORA_TARGETS.join(', ');
    throw refused('policy.lora.targets', targets.join(', '), `must be ${all}: the server adapts them all`);
  }
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
