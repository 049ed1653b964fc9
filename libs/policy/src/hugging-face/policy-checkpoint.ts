import type { CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import type { FileRef } from '../checkpoints/file-ref.js';
import { encodeParameters } from '../checkpoints/parameter-file.js';
import { SafetensorsFile } from '../checkpoints/safetensors-file.js';
import { readParameter, requireParameters } from '../checkpoints/tensor-source.js';
import { adapterSpecs } from '../model/adapter-layout.js';
import { baseSpecs, isOfCritic, parameterSpecs } from '../model/parameter-layout.js';
import { ParameterSet } from '../model/parameter-set.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';
import { validateTransformerConfig } from '../model/transformer-config.js';
import type { TransformerConfig } from '../model/transformer-config.js';
import { Transformer } from '../model/transformer.js';
import { PolicyError } from '../policy-error.js';
import { loadHuggingFaceModel } from './load-model.js';
import { modelFingerprint } from './model-fingerprint.js';

/** The model directory whose frozen weights a checkpoint of adapters leaves out. */
export interface BaseModel {
  readonly directory: string;
  /** `modelFingerprint` of the directory. */
  readonly fingerprint: string;
}

/** Opens a verified file. */
type OpensFiles = Pick<CheckpointFiles, 'open'>;

export interface PolicyCheckpointOptions {
  readonly tokenizerHash: string;
  /** Required for a model with adapters. */
  readonly base: BaseModel | null;
}

/**
 * Encodes a policy for `CheckpointFiles.write` as a safetensors file in pieces: `Transformer.trainableSpecs`, the config, and
 * with adapters the directory of the base model. One parameter is in memory at a time. The same weights give the same bytes.
 *
 * @throws PolicyError `INVALID_REQUEST` when a model with adapters comes without `base`
 */
export function policyCheckpointContent(
  model: Transformer,
  options: PolicyCheckpointOptions,
): AsyncGenerator<Uint8Array> {
  const metadata = policyCheckpointMetadata(model.config, options);
  return model.parameters.encode(model.trainableSpecs, { metadata });
}

/**
 * Encodes a policy whose adapters are in a file of peft's, as `policyCheckpointContent` does one in memory: the same weights give the same bytes, and
 * the base model is not loaded.
 *
 * @param path `adapter_model.safetensors`
 * @throws PolicyError `TENSOR_MISMATCH` unless the file has the adapters of the config and no others; `NOT_FINITE`
 */
export async function* adapterCheckpointContent(
  path: string,
  config: TransformerConfig,
  options: PolicyCheckpointOptions,
): AsyncGenerator<Uint8Array> {
  const specs = adapterSpecs(config.lora, baseSpecs(config));
  const file = await SafetensorsFile.open(path);
  try {
    requireParameters(file, specs);
    const names = new Set(specs.flatMap(({ parts }) => parts.map(({ name }) => name)));
    const other = [...file.header.entries.keys()].find((name) => !names.has(name));
    if (other !== undefined) {
      const rule = `is no adapter of ${config.lora?.targets.join(', ') ?? 'a model without adapters'}`;
      throw new PolicyError('TENSOR_MISMATCH', `${path}: ${other} ${rule}`);
    }
    const groups = specs.map((spec) => ({ specs: [spec], values: () => readParameter(file, spec) }));
    yield* encodeParameters(groups, { metadata: policyCheckpointMetadata(config, options) });
  } finally {
    await file.close();
  }
}

/**
 * The text entries of a policy's file.
 *
 * @throws PolicyError `INVALID_REQUEST` as `policyCheckpointContent` does
 */
export function policyCheckpointMetadata(
  config: TransformerConfig,
  { tokenizerHash, base }: PolicyCheckpointOptions,
): Readonly<Record<string, string>> {
  if (config.lora && base === null) {
    throw new PolicyError('INVALID_REQUEST', 'a checkpoint of adapters must name the model they belong to');
  }
  const metadata = { config: JSON.stringify(config), tokenizerHash };
  return config.lora ? { ...metadata, base: JSON.stringify(base) } : metadata;
}

/**
 * Loads the model of a checkpoint, and the base of adapters from its directory, one parameter at a time.
 *
 * @throws PolicyError `CHECKPOINT_CORRUPT` when the adapters were trained on another base, and as `CheckpointFiles.open` and `loadHuggingFaceModel` do; the model's memory is freed first
 */
export async function openPolicyCheckpoint(checkpoints: OpensFiles, ref: FileRef): Promise<Transformer> {
  return useFile(checkpoints, ref, async (file) => {
    const { metadata } = file.header;
    const config = JSON.parse(metadata.config) as TransformerConfig;
    if (metadata.base === undefined) {
      validateTransformerConfig(config);
      const specs = parameterSpecs(config);
      requireParameters(file, specs);
      return new Transformer(config, await ParameterSet.load(specs, (spec) => readParameter(file, spec)));
    }
    const model = await loadBase(JSON.parse(metadata.base) as BaseModel, config);
    try {
      await model.loadTrainableTensors(file);
      return model;
    } catch (error) {
      model.dispose();
      throw error;
    }
  });
}

/** Reads the hash of the tokenizer whose ids the policy of a checkpoint reads. @throws PolicyError as `CheckpointFiles.open` does */
export function policyTokenizerHash(checkpoints: CheckpointFiles, ref: FileRef): Promise<string> {
  return useFile(checkpoints, ref, ({ header }) => Promise.resolve(header.metadata.tokenizerHash));
}

/**
 * Replaces the trained weights of a model with those of a checkpoint of the same shape.
 *
 * @throws PolicyError as `CheckpointFiles.open` and `Transformer.loadTrainableTensors` do
 */
export async function loadPolicyCheckpoint(
  model: Transformer,
  checkpoints: OpensFiles,
  ref: FileRef,
): Promise<void> {
  await useFile(checkpoints, ref, (file) => model.loadTrainableTensors(file));
}

/**
 * Replaces the trained weights of a model with those of a policy that was trained elsewhere. Where that policy has no critic, or not all of
 * this one's, the critic keeps its initial weights.
 *
 * @throws PolicyError as `loadPolicyCheckpoint` does, for another architecture
 */
export async function startFromCheckpoint(
  model: Transformer,
  checkpoints: CheckpointFiles,
  ref: FileRef,
): Promise<void> {
  await useFile(checkpoints, ref, (file) => {
    const isThere = ({ parts }: ParameterSpec) => parts.every(({ name }) => file.header.entries.has(name));
    const critic = model.trainableSpecs.filter(({ key }) => isOfCritic(key));
    const policy = model.trainableSpecs.filter(({ key }) => !isOfCritic(key));
    return model.parameters.assignFrom(file, critic.every(isThere) ? model.trainableSpecs : policy);
  });
}

async function useFile<T>(
  checkpoints: OpensFiles,
  ref: FileRef,
  use: (file: SafetensorsFile) => Promise<T>,
): Promise<T> {
  const file = await checkpoints.open(ref);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function loadBase(
  { directory, fingerprint }: BaseModel,
  { valueHead, valueTrunk, lora, maxPositions }: TransformerConfig,
): Promise<Transformer> {
  const found = await modelFingerprint(directory);
  if (found !== fingerprint) {
    throw new PolicyError(
      'CHECKPOINT_CORRUPT',
      `the model in ${directory} has fingerprint ${found.slice(0, 12)}; the adapters were trained on ${fingerprint.slice(0, 12)}`,
    );
  }
  return loadHuggingFaceModel(directory, {
    valueHead,
    ...(valueTrunk ? { valueTrunk } : {}),
    ...(lora ? { lora } : {}),
    maxPositions,
    seed: 0,
  });
}
