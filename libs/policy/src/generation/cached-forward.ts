/**
 * The forward pass over new tokens of contexts whose earlier tokens are cached.
 *
 * Legend: N new tokens · B rows (contexts) · V vocabulary · h hidden size.
 */
import * as tf from '@retrace/compute/tensorflow';
import { adapterDeltas, isAdapted } from '../model/adapted-projection.js';
import { normQueriesAndKeys } from '../model/forward.js';
import { EMBEDDING_KEY, FINAL_NORM_KEY, layerKeys } from '../model/parameter-layout.js';
import type { Transformer } from '../model/transformer.js';
import { lookup, RowProducts, swiGlu } from '@retrace/compute';
import type { RowProductOptions } from '@retrace/compute';
import { cachedAttention } from './cached-attention.js';
import type { KeyValueCache } from './key-value-cache.js';
import type { NewTokens } from './new-tokens.js';

/** Computes the logits after the last new token of each row, [B, V], and adds all tokens to the cache. */
export function logitsAtLast(model: Transformer, cache: KeyValueCache, tokens: NewTokens): tf.Tensor {
  const { config } = model;
  const products = new RowProducts(config.rmsNormEps);
  const attention = cachedAttention(model, cache, tokens);
  let x_NH = lookup(tokens.tokenIds, model.parameter(EMBEDDING_KEY));
  for (let layer = 0; layer < config.numLayers; layer++) {
    const keys = layerKeys(layer);
    const lastOnly = layer === config.numLayers - 1 && tokens.tokenIds.length > tokens.slots.length;
    const joined = project(model, products, keys.qkvWeight, x_NH, {
      bias: config.attentionBias ? model.parameter(keys.qkvBias) : null,
      norm: model.parameter(keys.inputNorm),
    });
    const context = attention.attend(layer, normQueriesAndKeys(model, layer, joined), lastOnly);
    if (lastOnly) x_NH = tf.gather(x_NH, tf.tensor1d(tokens.lastTokens, 'int32'));
    const attended = project(model, products, keys.outputWeight, context, { residual: x_NH });
    const [gate, up] = gateAndUp(model, products, layer, attended);
    x_NH = project(model, products, keys.downWeight, swiGlu(gate, up), { residual: attended });
  }
  return products.product(x_NH, model.lmHead, { norm: model.parameter(FINAL_NORM_KEY) });
}

/** Multiplies rows by a projection and its adapters. */
function project(
  model: Transformer,
  products: RowProducts,
  key: string,
  x_NI: tf.Tensor,
  { norm, ...others }: RowProductOptions,
): tf.Tensor {
  if (!isAdapted(model, key)) return products.product(x_NI, model.parameter(key), { norm, ...others });
  const rows = norm === undefined ? x_NI : products.normed(x_NI, norm);
  const deltas = adapterDeltas(model, key, rows);
  const delta = deltas.length === 1 ? deltas[0] : tf.concat(deltas, 1);
  return tf.add(products.product(rows, model.parameter(key), others), delta);
}

function gateAndUp(
  model: Transformer,
  products: RowProducts,
  layer: number,
  x_NH: tf.Tensor,
): [tf.Tensor, tf.Tensor] {
  const keys = layerKeys(layer);
  const norm = model.parameter(keys.feedForwardNorm);
  // Rows of a matrix are split without a copy; columns of the product would not be.
  const [gateWeight, upWeight] = tf.split(model.parameter(keys.gateUpWeight), 2, 0);
  if (!isAdapted(model, keys.gateUpWeight)) {
    return [products.product(x_NH, gateWeight, { norm }), products.product(x_NH, upWeight, { norm })];
  }
  const rows = products.normed(x_NH, norm);
  const [gateDelta, upDelta] = adapterDeltas(model, keys.gateUpWeight, rows);
  return [
    products.product(rows, gateWeight, { residual: gateDelta }),
    products.product(rows, upWeight, { residual: upDelta }),
  ];
}
