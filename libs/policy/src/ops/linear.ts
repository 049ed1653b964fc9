import * as tf from '@tensorflow/tfjs-core';
import { columnSum } from './column-sum.js';
import { matMul } from './mat-mul.js';
import { withGradient } from './with-gradient.js';

/** x·weightᵀ (+ bias), for x [N, I], weight [O, I] as checkpoints store it, bias [O]: [N, O]. */
export function linear(x_NI: tf.Tensor, weight_OI: tf.Tensor, bias_O: tf.Tensor | null): tf.Tensor {
  const product = matMul(x_NI, weight_OI, { transposeB: true });
  if (bias_O === null) return product;
  return withGradient(
    [product, bias_O],
    () => ({ value: tf.add(product, bias_O), saved: [] }),
    (dy) => [dy, columnSum(dy)],
  );
}
