/**
 * The forward pass over a pack of sequences.
 *
 * Legend: N cells · M reads · W width of the joined projections · h hidden size.
 */
import * as tf from '@retrace/compute/tensorflow';
import type { PackLayout } from '../packing/sequence-pack.js';
import { applyNormWeight, linear, lookup, normHeads, recomputed, rmsNorm, swiGlu } from '@retrace/compute';
import { loraAKey, loraBKey } from './adapter-layout.js';
import { adapterDeltas, isAdapted, projectAdapted } from './adapted-projection.js';
import { attend } from './attention.js';
import { planAttention } from './attention-plan.js';
import type { AttentionPlan } from './attention-plan.js';
import { EMBEDDING_KEY, FINAL_NORM_KEY, layerKeys } from './parameter-layout.js';
import type { TrunkWeights } from './trunk-weights.js';

/** A pack on the device; every layer uses the same plan, except the last. */
export interface DevicePack {
  readonly tokenIds: Int32Array;
  readonly plan: AttentionPlan;
  /** The plan of the last layer: only the cells that are read are queries. */
  readonly lastPlan: AttentionPlan;
  /** [M] cells that are reads; null if all are. */
  readonly readCells: tf.Tensor | null;
}

/** Puts a pack on the device. Call it outside of the differentiated function, inside the caller's `tf.tidy`, which frees it. */
export function toDevice(model: TrunkWeights, { tokenIds, offsets, readCells }: PackLayout): DevicePack {
  const plan = planAttention(model.rotary, offsets, null);
  return {
    tokenIds,
    plan,
    lastPlan: readCells === null ? plan : planAttention(model.rotary, offsets, readCells),
    readCells: readCells === null ? null : tf.tensor1d(readCells, 'int32'),
  };
}

/**
 * Computes the final hidden states (after the last norm) at the cells that a pack reads, [M, h]. The last layer computes
 * queries, output projection and feed-forward only for those.
 */
export function hiddenAtReads(
  model: TrunkWeights,
  pack: DevicePack,
  { recomputeLayers = false }: ForwardOptions = {},
): tf.Tensor {
  let x_NH = lookup(pack.tokenIds, model.parameter(EMBEDDING_KEY));
  for (let layer = 0; layer < model.config.numLayers; layer++) {
    const run = (x: tf.Tensor) => runLayer(model, layer, pack, x);
    x_NH = recomputeLayers ? recomputed(x_NH, layerParameters(model, layer, pack), run) : run(x_NH);
  }
  return finalNorm(model, x_NH);
}

export interface ForwardOptions {
  /**
   * Keep only the input of each layer, and compute the layer again for the gradient: about a quarter more time,
   * and the memory of one layer's activations instead of all layers'. Default false.
   */
  readonly recomputeLayers?: boolean;
}

function runLayer(model: TrunkWeights, layer: number, pack: DevicePack, x_NH: tf.Tensor): tf.Tensor {
  const isLast = layer === model.config.numLayers - 1;
  const qkv_NW = layer === 0 ? projectTokens(model, pack.tokenIds, x_NH) : projectQkv(model, layer, x_NH);
  const context = attend(qkv_NW, isLast ? pack.lastPlan : pack.plan, model.config);
  const readsSome = isLast && pack.readCells !== null;
  const residual = readsSome ? tf.gather(x_NH, pack.readCells as tf.Tensor) : x_NH;
  return finishLayer(model, layer, residual, context);
}

/** All parameters that a layer reads. */
function layerParameters(model: TrunkWeights, layer: number, { tokenIds }: DevicePack): tf.Tensor[] {
  const keys = Object.values(layerKeys(layer)).flatMap((key) => [key, loraAKey(key), loraBKey(key)]);
  const readsEmbedding = layer === 0 && projectsVocabulary(model, tokenIds);
  const all = readsEmbedding ? [EMBEDDING_KEY, ...keys] : keys;
  return all.filter((key) => model.hasParameter(key)).map((key) => model.parameter(key));
}

/**
 * `projectQkv` of the first layer, whose input depends only on the token: if there are more tokens than ids in the
 * vocabulary, the vocabulary is projected, and tokens look up their projection.
 */
function projectTokens(model: TrunkWeights, tokenIds: Int32Array, embedded_NH: tf.Tensor): tf.Tensor {
  if (!projectsVocabulary(model, tokenIds)) return projectQkv(model, 0, embedded_NH);
  return lookup(tokenIds, projectQkv(model, 0, model.parameter(EMBEDDING_KEY)));
}

function projectsVocabulary(model: TrunkWeights, tokenIds: Int32Array): boolean {
  return tokenIds.length > model.config.vocabSize;
}

/** The hidden state that the LM head and the value head read. */
export function finalNorm(model: TrunkWeights, x_NH: tf.Tensor): tf.Tensor {
  return tf.mul(rmsNorm(x_NH, model.config.rmsNormEps), model.parameter(FINAL_NORM_KEY));
}

/** Joined query, key and value projections of the normed input, [N, W], before rotation; heads are normed if the model norms them. */
function projectQkv(model: TrunkWeights, layer: number, x_NH: tf.Tensor): tf.Tensor {
  const { config } = model;
  const keys = layerKeys(layer);
  const bias = config.attentionBias ? model.parameter(keys.qkvBias) : null;
  const normed = rmsNorm(x_NH, config.rmsNormEps);
  const norm = model.parameter(keys.inputNorm);
  if (isAdapted(model, keys.qkvWeight)) {
    return normQueriesAndKeys(
      model,
      layer,
      projectAdapted(model, keys.qkvWeight, tf.mul(normed, norm), bias),
    );
  }
  const { rows, matrix } = applyNormWeight(norm, { rows: normed, matrix: model.parameter(keys.qkvWeight) });
  return normQueriesAndKeys(model, layer, linear(rows, matrix, bias));
}

/** Norms the heads of queries and keys, if the model does. */
export function normQueriesAndKeys(model: TrunkWeights, layer: number, qkv_NW: tf.Tensor): tf.Tensor {
  const { queryKeyNorm, numHeads, numKeyValueHeads, headDim, rmsNormEps } = model.config;
  if (!queryKeyNorm) return qkv_NW;
  const keys = layerKeys(layer);
  const [qk, v] = tf.split(qkv_NW, [(numHeads + numKeyValueHeads) * headDim, numKeyValueHeads * headDim], 1);
  const weight = tf.concat([
    tf.tile(model.parameter(keys.queryNorm), [numHeads]),
    tf.tile(model.parameter(keys.keyNorm), [numKeyValueHeads]),
  ]);
  return tf.concat([normHeads(qk, weight, headDim, rmsNormEps), v], 1);
}

/** Output projection and feed-forward of a layer, both added to the residual stream. */
function finishLayer(model: TrunkWeights, layer: number, x_NH: tf.Tensor, context_NH: tf.Tensor): tf.Tensor {
  const keys = layerKeys(layer);
  const attended = tf.add(x_NH, projectAdapted(model, keys.outputWeight, context_NH, null));
  const [gate, up] = gateAndUp(model, layer, attended);
  return tf.add(attended, projectAdapted(model, keys.downWeight, swiGlu(gate, up), null));
}

function gateAndUp(model: TrunkWeights, layer: number, attended_NH: tf.Tensor): [tf.Tensor, tf.Tensor] {
  const keys = layerKeys(layer);
  const normed = rmsNorm(attended_NH, model.config.rmsNormEps);
  const norm = model.parameter(keys.feedForwardNorm);
  const joined = model.parameter(keys.gateUpWeight);
  const adapted = isAdapted(model, keys.gateUpWeight);
  const { rows, matrix } = adapted
    ? { rows: tf.mul(normed, norm), matrix: joined }
    : applyNormWeight(norm, { rows: normed, matrix: joined });
  // Rows of a matrix are split without a copy; columns of the product would not be.
  const [gateWeight, upWeight] = tf.split(matrix, 2, 0);
  const [gate, up] = [linear(rows, gateWeight, null), linear(rows, upWeight, null)];
  if (!adapted) return [gate, up];
  const [gateDelta, upDelta] = adapterDeltas(model, keys.gateUpWeight, rows);
  return [tf.add(gate, gateDelta), tf.add(up, upDelta)];
}
