import * as tf from '@tensorflow/tfjs-core';
import { valueHeadKey } from '../model/parameter-layout.js';
import type { Transformer } from '../model/transformer.js';
import { linear } from '../ops/linear.js';

/** V at each final hidden state [M, h]: [M]. */
export function valuesOf(model: Transformer, hidden_MH: tf.Tensor): tf.Tensor {
  return tf.reshape(linear(hidden_MH, model.matrix(valueHeadKey), null), [-1]);
}
