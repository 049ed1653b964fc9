import * as tf from '../../tensorflow.js';
import { columnSum } from './column-sum.js';
import { isFrozen } from '../gradients/frozen.js';
import { matMul } from './mat-mul.js';
import { withGradient } from '../gradients/with-gradient.js';

/** x·weightᵀ (+ bias), for x [N, I], weight [O, I] as checkpoints store it, bias [O]: [N, O]. */
export function linear(x_NI: tf.Tensor, weight_OI: tf.Tensor, bias_O: tf.Tensor | null): tf.Tensor {
  const product = isFrozen(weight_OI)
    ? frozenProduct(x_NI, weight_OI)
    : matMul(x_NI, weight_OI, { transposeB: true });
  if (bias_O === null) return product;
  return withGradient(
    [product, bias_O],
    () => ({ value: tf.add(product, bias_O), saved: [] }),
    (dy, _, [, wantsBias]) => [dy, wantsBias ? columnSum(dy) : null],
  );
}

/** The product with a matrix that is not trained, which keeps no input for a gradient. */
function frozenProduct(x_NI: tf.Tensor, weight_OI: tf.Tensor): tf.Tensor {
  return withGradient(
    [x_NI],
    () => ({ value: matMul(x_NI, weight_OI, { transposeB: true }), saved: [weight_OI] }),
    (dy, [weight]) => [matMul(dy, weight)],
  );
}
