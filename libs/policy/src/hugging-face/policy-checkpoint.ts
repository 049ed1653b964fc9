import { decodeSafetensors, encodeSafetensors } from '../checkpoints/safetensors.js';
import type { NamedTensors } from '../model/named-tensors.js';
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
 * The trained weights of a policy as a safetensors file, with what a reader needs to have the model again: all weights, or
 * under adapters those, what a critic has for itself, and where the base lies.
 */
export async function encodePolicyCheckpoint(
  model: Transformer,
  { tokenizerHash, base }: PolicyCheckpointOptions,
): Promise<Uint8Array> {
  if (model.config.lora && base === null) {
    throw new PolicyError('INVALID_REQUEST', 'a checkpoint of adapters must name the model they belong to');
  }
  const metadata = { config: JSON.stringify(model.config), tokenizerHash };
  return encodeSafetensors(
    await model.exportTrainableTensors(),
    model.config.lora ? { ...metadata, base: JSON.stringify(base) } : metadata,
  );
}

/**
 * The model of a checkpoint, with its base from its directory.
 * Throws `PolicyError`: `CHECKPOINT_CORRUPT` when the base is another than the adapters were trained on, and what
 * `loadHuggingFaceModel` throws.
 */
export async function openPolicyCheckpoint(bytes: Uint8Array): Promise<Transformer> {
  const { tensors, metadata } = decodeSafetensors(bytes, 'the checkpoint');
  const config = JSON.parse(metadata.config) as TransformerConfig;
  if (metadata.base === undefined) return Transformer.fromTensors(config, tensors);
  const { directory, fingerprint } = JSON.parse(metadata.base) as BaseModel;
  const found = await modelFingerprint(directory);
  if (found !== fingerprint) {
    throw new PolicyError(
      'CHECKPOINT_CORRUPT',
      `the model in ${directory} has fingerprint ${found.slice(0, 12)}; the adapters were trained on ${fingerprint.slice(0, 12)}`,
    );
  }
  const { valueHead, valueTrunk, lora, maxPositions } = config;
  const model = await loadHuggingFaceModel(directory, {
    valueHead,
    ...(valueTrunk ? { valueTrunk } : {}),
    ...(lora ? { lora } : {}),
    maxPositions,
    seed: 0,
  });
  try {
    model.assignTrainableTensors(tensors);
    return model;
  } catch (error) {
    model.dispose();
    throw error;
  }
}

/** The trained weights of a checkpoint, for `Transformer.assignTrainableTensors` of a model that is there. */
export function decodePolicyCheckpoint(bytes: Uint8Array): NamedTensors {
  return decodeSafetensors(bytes, 'the checkpoint').tensors;
}
