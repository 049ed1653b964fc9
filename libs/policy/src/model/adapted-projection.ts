/**
 * Products with projections that may carry adapters.
 *
 * Legend: N cells · I width of the input · O rows of the joined projection · r rank · n targets among its parts.
 */
import * as tf from '@retrace/compute/tensorflow';
import { linear, matMul } from '@retrace/compute';
import { isTarget, loraAKey, loraBKey } from './adapter-layout.js';
import type { LoraConfig } from './lora-config.js';
import { baseSpecs } from './parameter-layout.js';
import type { ParameterPart } from '../parameters/parameter-spec.js';
import type { TransformerConfig } from './transformer-config.js';
import type { TrunkWeights } from './trunk-weights.js';

/** Whether a projection carries an adapter on any of its parts. */
export function isAdapted(weights: TrunkWeights, key: string): boolean {
  return weights.hasParameter(loraAKey(key));
}

/** Computes x·(W + s·B·A)ᵀ + bias, [N, O], for the joined projection W with this key; s = alpha/rank. */
export function projectAdapted(
  weights: TrunkWeights,
  key: string,
  x_NI: tf.Tensor,
  bias_O: tf.Tensor | null,
): tf.Tensor {
  const base_NO = linear(x_NI, weights.parameter(key), bias_O);
  if (!isAdapted(weights, key)) return base_NO;
  const deltas = adapterDeltas(weights, key, x_NI);
  return tf.add(base_NO, deltas.length === 1 ? deltas[0] : tf.concat(deltas, 1));
}

/** Computes s·x·Aᵀ·Bᵀ for each part of a joined projection, in order; zeros for a part without an adapter. */
export function adapterDeltas(weights: TrunkWeights, key: string, x_NI: tf.Tensor): tf.Tensor[] {
  const lora = weights.config.lora as LoraConfig;
  const parts = listParts(weights.config, key);
  const targets = parts.filter((part) => isTarget(part, lora));
  const scaled = tf.mul(linear(x_NI, weights.parameter(loraAKey(key)), null), lora.alpha / lora.rank);
  const downs = splitInto(
    scaled,
    targets.map(() => lora.rank),
    1,
  );
  const ups = splitInto(
    weights.parameter(loraBKey(key)),
    targets.map((part) => part.numRows),
    0,
  );
  return parts.map((part) => {
    const target = targets.indexOf(part);
    return target < 0
      ? tf.zeros([x_NI.shape[0], part.numRows])
      : matMul(downs[target], ups[target], { transposeB: true });
  });
}

/** `tf.split`, which has no gradient for a single piece. */
function splitInto(x: tf.Tensor, sizes: number[], axis: number): tf.Tensor[] {
  return sizes.length === 1 ? [x] : tf.split(x, sizes, axis);
}

/** Computes the weight with this key and its adapters added: W + s·B·A. */
export function mergedWeight(weights: TrunkWeights, key: string): tf.Tensor {
  const weight = weights.parameter(key);
  if (!isAdapted(weights, key)) return tf.clone(weight);
  const columns = tf.eye(weight.shape[1] as number);
  // Row i of the deltas is the image of unit vector i: column i of B·A.
  return tf.add(weight, tf.transpose(tf.concat(adapterDeltas(weights, key, columns), 1)));
}

/** The config of the model that `Transformer.merge` returns. */
export function withoutAdapters({ lora, valueTrunk, ...config }: TransformerConfig): TransformerConfig {
  if (lora === undefined) return { ...config, ...(valueTrunk ? { valueTrunk } : {}) };
  return { ...config, valueHead: config.valueHead && valueTrunk !== 'own' };
}

const knownParts = new WeakMap<TransformerConfig, ReadonlyMap<string, readonly ParameterPart[]>>();

function listParts(config: TransformerConfig, key: string): readonly ParameterPart[] {
  let parts = knownParts.get(config);
  if (parts === undefined) {
    parts = new Map(baseSpecs(config).map((spec) => [spec.key, spec.parts]));
    knownParts.set(config, parts);
  }
  return parts.get(key) ?? [];
}
