import type { CheckpointFiles, FileRef } from '../checkpoints/checkpoint-files.js';
import { bytesOf } from '../checkpoints/element-types.js';
import { encodeSafetensorsHeader } from '../checkpoints/safetensors-header.js';
import { readParameter, requireParameters, tensorEntries } from '../checkpoints/tensor-source.js';
import { splitParameter } from '../model/join-parameter.js';
import { parameterSpecs } from '../model/parameter-layout.js';
import { ParameterSet } from '../model/parameter-set.js';
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

export interface PolicyCheckpointOptions {
  readonly tokenizerHash: string;
  /** Required for a model with adapters. */
  readonly base: BaseModel | null;
}

/**
 * The trained weights of a policy as a safetensors file, in pieces, for `CheckpointFiles.write`; with what a reader needs to
 * have the model again: all weights, or under adapters those, what a critic has for itself, and where the base lies. One
 * parameter is held at a time. The same weights give the same bytes.
 */
export async function* policyCheckpointContent(
  model: Transformer,
  { tokenizerHash, base }: PolicyCheckpointOptions,
): AsyncGenerator<Uint8Array> {
  if (model.config.lora && base === null) {
    throw new PolicyError('INVALID_REQUEST', 'a checkpoint of adapters must name the model they belong to');
  }
  const metadata = { config: JSON.stringify(model.config), tokenizerHash };
  yield encodeSafetensorsHeader(
    tensorEntries(model.trainableSpecs),
    model.config.lora ? { ...metadata, base: JSON.stringify(base) } : metadata,
  );
  for (const spec of model.trainableSpecs) {
    const data = (await model.parameters.get(spec.key).data()) as Float32Array;
    for (const [, tensor] of splitParameter(spec, data)) yield bytesOf(tensor.data);
  }
}

/**
 * The model of a checkpoint, with its base from its directory; a parameter is read at a time.
 *
 * @throws PolicyError `CHECKPOINT_CORRUPT` when the base is another than the adapters were trained on, and what `CheckpointFiles.open` and `loadHuggingFaceModel` throw; nothing of the model stays in memory then
 */
export async function openPolicyCheckpoint(checkpoints: CheckpointFiles, ref: FileRef): Promise<Transformer> {
  const file = await checkpoints.open(ref);
  try {
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
  } finally {
    await file.close();
  }
}

/** Puts the trained weights of a checkpoint onto a model of its kind that is there. Throws what `CheckpointFiles.open` and `Transformer.loadTrainableTensors` throw. */
export async function loadPolicyCheckpoint(
  model: Transformer,
  checkpoints: CheckpointFiles,
  ref: FileRef,
): Promise<void> {
  const file = await checkpoints.open(ref);
  try {
    await model.loadTrainableTensors(file);
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
