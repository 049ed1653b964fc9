/**
 * Attention of new tokens over the cached ones of their contexts, which they join.
 *
 * Legend: N new tokens · B rows (contexts) · Q queries a row · L cached columns · H query heads · K key/value heads · D head width ·
 * W = (H + 2K)·D.
 */
import * as tf from '@retrace/compute/tensorflow';
import { attentionBias, attentionWeights, joinHeads, splitHeads } from '../model/attention-weights.js';
import { rotate } from '../model/rotary.js';
import type { Transformer } from '../model/transformer.js';
import { hasNativeOps, matMul, nativeOp } from '@retrace/compute';
import type { KeyValueCache } from './key-value-cache.js';
import type { NewTokens } from './new-tokens.js';

/** Attention over the cache for the tokens of one pass; every layer uses the same one. */
export interface CachedAttention {
  /**
   * Adds keys and values of the joined projections [N, W] (before rotation) to the cache; returns the joined heads [N, H·D],
   * or [B, H·D] of the last token of each row.
   */
  attend(layer: number, qkv_NW: tf.Tensor, lastOnly: boolean): tf.Tensor;
}

/** Plans the attention of one pass; use the plan inside the same `tf.tidy`. */
export function cachedAttention(
  model: Transformer,
  cache: KeyValueCache,
  tokens: NewTokens,
): CachedAttention {
  return hasNativeOps() ? fused(model, cache, tokens) : composed(model, cache, tokens);
}

function fused(model: Transformer, cache: KeyValueCache, tokens: NewTokens): CachedAttention {
  const { numHeads, numKeyValueHeads, headDim } = model.config;
  const { tokenSlots, positions, lastTokens } = tokens;
  const numPositions = positions.reduce((max, position) => Math.max(max, position + 1), 0);
  const factors = model.rotary.upTo(numPositions);
  const slots = tf.tensor1d(tokenSlots, 'int32');
  const places = tf.tensor1d(positions, 'int32');
  const last = tf.tensor1d(lastTokens, 'int32');
  const all = tf.range(0, positions.length, 1, 'int32');
  const dims = tf.tensor1d([numHeads, numKeyValueHeads, headDim], 'int32');
  return {
    attend(layer, qkv_NW, lastOnly) {
      const wanted = lastOnly ? last : all;
      const inputs = [qkv_NW, factors, slots, places, wanted, cache.layer(layer), dims];
      return nativeOp('RetraceCachedAttention', inputs)[0];
    },
  };
}

function composed(model: Transformer, cache: KeyValueCache, tokens: NewTokens): CachedAttention {
  const { config } = model;
  const { tokenSlots, positions } = tokens;
  const numPositions = positions.reduce((max, position) => Math.max(max, position + 1), 0);
  const factors = model.rotary.at(tf.tensor1d(positions, 'int32'), numPositions);
  const widths = [config.numHeads * config.headDim, 2 * config.numKeyValueHeads * config.headDim];
  const everyQuery = queryGroups(tokens);
  const lastQueries = lastQueryGroup(tokens);
  return {
    attend(layer, qkv_NW, lastOnly) {
      const [queries_NW, keysValues_NW] = tf.split(rotate(qkv_NW, factors), widths, 1);
      const keysValues = tf.reshape(keysValues_NW, [-1, 2 * config.numKeyValueHeads, config.headDim]);
      cache.write(layer, tokenSlots, positions, keysValues);
      if (lastOnly) return attendGroup(model, cache, layer, queries_NW, lastQueries);
      const parts = everyQuery.groups.map((group) => attendGroup(model, cache, layer, queries_NW, group));
      return tf.gather(tf.concat(parts), everyQuery.order);
    },
  };
}

/** Rows with the same number of queries; shorter rows repeat their last query. */
interface QueryGroup {
  readonly slots: Int32Array;
  readonly numQueries: number;
  /** [B·Q] */
  readonly queryTokens: tf.Tensor;
  readonly numKeys: number;
  /** Null if every query sees every key. */
  readonly bias: tf.Tensor | null;
}

function attendGroup(
  { config }: Transformer,
  cache: KeyValueCache,
  layer: number,
  queries_NW: tf.Tensor,
  { slots, numQueries, queryTokens, numKeys, bias }: QueryGroup,
): tf.Tensor {
  const { numHeads, numKeyValueHeads, headDim } = config;
  const numRows = slots.length;
  const q = splitHeads(tf.gather(queries_NW, queryTokens), numRows, numQueries, config, numHeads);
  const q_BKED = tf.reshape(q, [numRows, numKeyValueHeads, -1, headDim]);
  const [k, v] = cache.read(layer, slots, numKeys);
  const context_BKED = matMul(attentionWeights(q_BKED, k, bias, numHeads), v);
  return joinHeads(tf.reshape(context_BKED, [numRows, numHeads, numQueries, headDim]));
}

/** Groups rows by length, up to the next power of two; `order` finds each token's result among those of all groups. */
function queryGroups(tokens: NewTokens): {
  readonly groups: readonly QueryGroup[];
  readonly order: tf.Tensor;
} {
  const { lengths, lastTokens } = tokens;
  const rowsByClass = new Map<number, number[]>();
  lengths.forEach((length, row) => {
    const lengthClass = Math.ceil(Math.log2(length));
    const members = rowsByClass.get(lengthClass);
    if (members) members.push(row);
    else rowsByClass.set(lengthClass, [row]);
  });
  const order = new Int32Array(tokens.tokenIds.length);
  let numResults = 0;
  const groups = [...rowsByClass.values()].map((rows) => {
    const numQueries = rows.reduce((max, row) => Math.max(max, lengths[row]), 0);
    for (const row of rows) {
      for (let query = 0; query < lengths[row]; query++)
        order[lastTokens[row] + 1 - lengths[row] + query] = numResults + query;
      numResults += numQueries;
    }
    return queryGroup(tokens, rows, numQueries, (row, query) =>
      Math.min(lastTokens[row] + 1 - lengths[row] + query, lastTokens[row]),
    );
  });
  return { groups, order: tf.tensor1d(order, 'int32') };
}

function lastQueryGroup(tokens: NewTokens): QueryGroup {
  return queryGroup(tokens, [...tokens.lengths.keys()], 1, (row) => tokens.lastTokens[row]);
}

function queryGroup(
  { slots, positions, lastTokens }: NewTokens,
  rows: readonly number[],
  numQueries: number,
  tokenAt: (row: number, query: number) => number,
): QueryGroup {
  const queryTokens = Int32Array.from({ length: rows.length * numQueries }, (_, i) =>
    tokenAt(rows[Math.floor(i / numQueries)], i % numQueries),
  );
  const numKeys = rows.reduce((max, row) => Math.max(max, positions[lastTokens[row]] + 1), 0);
  const queryColumns = queryTokens.map((token) => positions[token]);
  const columns = tf.tensor2d(queryColumns, [rows.length, numQueries], 'int32');
  return {
    slots: Int32Array.from(rows, (row) => slots[row]),
    numQueries,
    queryTokens: tf.tensor1d(queryTokens, 'int32'),
    numKeys,
    bias: queryColumns.every((column) => column === numKeys - 1) ? null : attentionBias(columns, numKeys),
  };
}
