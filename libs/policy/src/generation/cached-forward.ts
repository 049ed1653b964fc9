/**
 * The forward pass over new tokens of contexts whose earlier tokens are cached.
 *
 * Legend: B rows · C new columns · N = B·C cells · L cached columns (with the new ones) · H query heads ·
 * K key/value heads · D head width · h hidden size.
 */
import * as tf from '@tensorflow/tfjs-core';
import { attentionBias, attentionWeights, joinHeads, splitHeads } from '../model/attention-weights.js';
import { finalNorm, finishLayer, projectQkv, projectTokens } from '../model/forward.js';
import { rotate } from '../model/rotary.js';
import { embeddingKey } from '../model/parameter-layout.js';
import type { Transformer } from '../model/transformer.js';
import { lookup } from '../ops/lookup.js';
import { matMul } from '../ops/mat-mul.js';
import type { KeyValueCache } from './key-value-cache.js';

/** New tokens of some slots; row b continues slot `slots[b]` at position `starts[b]`. */
export interface NewTokens {
  readonly slots: Int32Array;
  readonly starts: Int32Array;
  /** [B] at least 1. */
  readonly lengths: Int32Array;
  readonly numColumns: number;
  /** [B·C], 0 where padded. */
  readonly tokenIds: Int32Array;
}

/** Final hidden state of the last new token of each row, [B, h]; the cache then holds all of them. */
export function hiddenAtLast(model: Transformer, cache: KeyValueCache, tokens: NewTokens): tf.Tensor {
  const { config } = model;
  const { slots, starts, lengths, numColumns } = tokens;
  const numRows = slots.length;
  const numKeys = starts.reduce((max, start, row) => Math.max(max, start + lengths[row]), 0);
  const columns = Int32Array.from(tokens.tokenIds, (_, cell) => {
    const row = Math.floor(cell / numColumns);
    return Math.min(starts[row] + (cell % numColumns), numKeys - 1);
  });
  const lastCells = lengths.map((length, row) => row * numColumns + length - 1);
  const selectLast = numColumns === 1 ? null : tf.tensor1d(lastCells, 'int32');
  const rotary = model.rotary.at(tf.tensor1d(columns, 'int32'), numKeys);
  const destinations = cache.destinations(tokens);
  const allQueries = { numColumns, bias: biasOf(columns, numRows, numKeys) };
  const lastQueries = {
    numColumns: 1,
    bias: biasOf(
      lastCells.map((cell) => columns[cell]),
      numRows,
      numKeys,
    ),
  };

  let x_NH = lookup(tokens.tokenIds, model.matrix(embeddingKey));
  for (let layer = 0; layer < config.numLayers; layer++) {
    const qkv_NW = layer === 0 ? projectTokens(model, tokens.tokenIds, x_NH) : projectQkv(model, layer, x_NH);
    const rotated = rotate(qkv_NW, rotary);
    const widths = [config.numHeads * config.headDim, 2 * config.numKeyValueHeads * config.headDim];
    const [allQueries_NW, keysValues_NW] = tf.split(rotated, widths, 1);
    cache.write(
      layer,
      destinations,
      splitHeads(keysValues_NW, numRows, numColumns, config, 2 * config.numKeyValueHeads),
    );
    const isLast = layer === config.numLayers - 1;
    const selects = isLast && selectLast !== null;
    const queries_NW = selects ? tf.gather(allQueries_NW, selectLast) : allQueries_NW;
    if (selects) x_NH = tf.gather(x_NH, selectLast);
    const { numColumns: numQueries, bias } = isLast ? lastQueries : allQueries;
    const q_BKED = tf.reshape(splitHeads(queries_NW, numRows, numQueries, config, config.numHeads), [
      numRows,
      config.numKeyValueHeads,
      -1,
      config.headDim,
    ]);
    const [k, v] = cache.read(layer, slots, numKeys);
    const context_BKED = matMul(attentionWeights(q_BKED, k, bias, config.numHeads), v);
    const context_BHQD = tf.reshape(context_BKED, [numRows, config.numHeads, numQueries, config.headDim]);
    x_NH = finishLayer(model, layer, x_NH, joinHeads(context_BHQD));
  }
  return finalNorm(model, x_NH);
}

/** Every query sees the keys up to its own column; no bias is needed where that is all of them. */
function biasOf(queryColumns: Int32Array, numRows: number, numKeys: number): tf.Tensor | null {
  if (queryColumns.every((column) => column === numKeys - 1)) return null;
  const columns = tf.tensor2d(queryColumns, [numRows, queryColumns.length / numRows], 'int32');
  return attentionBias(columns, numKeys);
}
