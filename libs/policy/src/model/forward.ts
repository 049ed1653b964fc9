/**
 * The forward pass over rows.
 *
 * Legend: B rows · T columns · N = B·T cells · Q query columns in the last layer · M reads · h hidden size.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { RowLayout } from '../packing/row-batch.js';
import { linear } from '../ops/linear.js';
import { lookup } from '../ops/lookup.js';
import { normHeads } from '../ops/norm-heads.js';
import { applyNormWeight, rmsNorm } from '../ops/rms-norm.js';
import { swiGlu } from '../ops/swi-glu.js';
import { adapterDeltas, isAdapted, projectAdapted } from './adapted-projection.js';
import { attend, attentionBias } from './attention.js';
import type { AttentionPlan } from './attention.js';
import { embeddingKey, finalNormKey, layerKeys } from './parameter-layout.js';
import type { TrunkWeights } from './trunk-weights.js';

/** A row batch on the device: indices, rotary angles and attention biases, the same for every layer. */
export interface DeviceRows {
  readonly tokenIds: Int32Array;
  readonly plan: AttentionPlan;
  /** The plan of the last layer: only the query columns that are read. */
  readonly lastPlan: AttentionPlan;
  /** [M] queries of the last layer that are reads; null if all are. */
  readonly readQueries: tf.Tensor | null;
  /** [M] cells that are reads; null if all are, in order. */
  readonly readCells: tf.Tensor | null;
}

/** Make it outside of what is differentiated (a gradient outlives the tidy of its forward pass); freed by the caller's tidy. */
export function toDevice(model: TrunkWeights, rows: RowLayout): DeviceRows {
  const plan = fullPlan(model, rows);
  return {
    tokenIds: rows.tokenIds,
    plan,
    lastPlan: queryPlan(rows, plan),
    readQueries: rows.readQueries === null ? null : tf.tensor1d(rows.readQueries, 'int32'),
    readCells: readCells(rows),
  };
}

/**
 * Final hidden states (after the last norm) at the positions a row batch reads, [M, h] in the order of its
 * `readPositions`. The last layer computes queries, output projection and feed-forward for those alone.
 */
export function hiddenAtReads(model: TrunkWeights, rows: DeviceRows): tf.Tensor {
  const { numLayers } = model.config;
  let x_NH = lookup(rows.tokenIds, model.matrix(embeddingKey));
  for (let layer = 0; layer < numLayers; layer++) {
    const isLast = layer === numLayers - 1;
    const plan = isLast ? rows.lastPlan : rows.plan;
    const qkv_NW = layer === 0 ? projectTokens(model, rows.tokenIds, x_NH) : projectQkv(model, layer, x_NH);
    let context_NH = attend(qkv_NW, plan, model.config);
    if (isLast && rows.readQueries !== null) context_NH = tf.gather(context_NH, rows.readQueries);
    if (isLast && rows.readCells !== null) x_NH = tf.gather(x_NH, rows.readCells);
    x_NH = finishLayer(model, layer, x_NH, context_NH);
  }
  return finalNorm(model, x_NH);
}

/**
 * `projectQkv` of the first layer, whose input depends on the token alone: where there are more tokens than words in
 * the vocabulary, the vocabulary is projected, and tokens look their projection up.
 */
export function projectTokens(model: TrunkWeights, tokenIds: Int32Array, embedded_NH: tf.Tensor): tf.Tensor {
  if (tokenIds.length <= model.config.vocabSize) return projectQkv(model, 0, embedded_NH);
  return lookup(tokenIds, projectQkv(model, 0, model.matrix(embeddingKey)));
}

/** The hidden state that the LM head and the value head read. */
export function finalNorm(model: TrunkWeights, x_NH: tf.Tensor): tf.Tensor {
  return tf.mul(rmsNorm(x_NH, model.config.rmsNormEps), model.vector(finalNormKey));
}

/** Joined query, key and value projections of the normed input, [N, W], heads normed where the model does, before rotation. */
export function projectQkv(model: TrunkWeights, layer: number, x_NH: tf.Tensor): tf.Tensor {
  const { config } = model;
  const keys = layerKeys(layer);
  const bias = config.attentionBias ? model.vector(keys.qkvBias) : null;
  const normed = rmsNorm(x_NH, config.rmsNormEps);
  const norm = model.vector(keys.inputNorm);
  if (isAdapted(model, keys.qkvWeight)) {
    return normQueriesAndKeys(
      model,
      layer,
      projectAdapted(model, keys.qkvWeight, tf.mul(normed, norm), bias),
    );
  }
  const { rows, matrix } = applyNormWeight(norm, { rows: normed, matrix: model.matrix(keys.qkvWeight) });
  return normQueriesAndKeys(model, layer, linear(rows, matrix, bias));
}

function normQueriesAndKeys(model: TrunkWeights, layer: number, qkv_NW: tf.Tensor): tf.Tensor {
  const { queryKeyNorm, numHeads, numKeyValueHeads, headDim, rmsNormEps } = model.config;
  if (!queryKeyNorm) return qkv_NW;
  const keys = layerKeys(layer);
  const [qk, v] = tf.split(qkv_NW, [(numHeads + numKeyValueHeads) * headDim, numKeyValueHeads * headDim], 1);
  const weight = tf.concat([
    tf.tile(model.vector(keys.queryNorm), [numHeads]),
    tf.tile(model.vector(keys.keyNorm), [numKeyValueHeads]),
  ]);
  return tf.concat([normHeads(qk, weight, headDim, rmsNormEps), v], 1);
}

/** Output projection and feed-forward of a layer, both added to the residual stream. */
export function finishLayer(
  model: TrunkWeights,
  layer: number,
  x_NH: tf.Tensor,
  context_NH: tf.Tensor,
): tf.Tensor {
  const keys = layerKeys(layer);
  const attended = tf.add(x_NH, projectAdapted(model, keys.outputWeight, context_NH, null));
  const [gate, up] = gateAndUp(model, layer, attended);
  return tf.add(attended, projectAdapted(model, keys.downWeight, swiGlu(gate, up), null));
}

function gateAndUp(model: TrunkWeights, layer: number, attended_NH: tf.Tensor): [tf.Tensor, tf.Tensor] {
  const keys = layerKeys(layer);
  const normed = rmsNorm(attended_NH, model.config.rmsNormEps);
  const norm = model.vector(keys.feedForwardNorm);
  const joined = model.matrix(keys.gateUpWeight);
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

function fullPlan(model: TrunkWeights, rows: RowLayout): AttentionPlan {
  const { numRows, rowLength, segmentIds } = rows;
  const segments = segmentIds === null ? null : tf.tensor2d(segmentIds, [numRows, rowLength], 'int32');
  const queryColumns = tf.expandDims(tf.range(0, rowLength, 1, 'int32'), 0);
  return {
    numRows,
    rowLength,
    rotary: model.rotary.upTo(rowLength),
    queryCells: null,
    numQueries: rowLength,
    bias: attentionBias({
      queryColumns,
      numKeys: rowLength,
      segments: segments === null ? null : { queries: segments, keys: segments },
    }),
  };
}

function queryPlan(rows: RowLayout, plan: AttentionPlan): AttentionPlan {
  const { numRows, rowLength, numQueries, queryColumns, segmentIds } = rows;
  if (queryColumns === null) return plan;
  const queryCells = queryColumns.map((column, query) => Math.floor(query / numQueries) * rowLength + column);
  const shape: [number, number] = [numRows, numQueries];
  const seesEveryKey = segmentIds === null && queryColumns.every((column) => column === rowLength - 1);
  const segments =
    segmentIds === null
      ? null
      : {
          queries: tf.tensor2d(
            Int32Array.from(queryCells, (cell) => segmentIds[cell]),
            shape,
            'int32',
          ),
          keys: tf.tensor2d(segmentIds, [numRows, rowLength], 'int32'),
        };
  return {
    ...plan,
    numQueries,
    queryCells: tf.tensor1d(queryCells, 'int32'),
    bias: seesEveryKey
      ? null
      : attentionBias({
          queryColumns: tf.tensor2d(queryColumns, shape, 'int32'),
          numKeys: rowLength,
          segments,
        }),
  };
}

function readCells(rows: RowLayout): tf.Tensor | null {
  const { rowLength, numQueries, queryColumns, readQueries } = rows;
  if (queryColumns === null) return readQueries === null ? null : tf.tensor1d(readQueries, 'int32');
  const cellOf = (query: number) => Math.floor(query / numQueries) * rowLength + queryColumns[query];
  const cells =
    readQueries === null ? queryColumns.map((_, query) => cellOf(query)) : readQueries.map(cellOf);
  return tf.tensor1d(cells, 'int32');
}
