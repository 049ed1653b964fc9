import * as tf from '../../tensorflow.js';
import { MULTIPLY_PAIRS_KERNEL } from '../../backend/wasm/register-kernels.js';
import { rawOp, runsTensorflow, runsWasm } from '../kernels/raw-op.js';

/**
 * Treats neighbouring columns of x [R·P, W] as complex numbers and multiplies each by its factor, given as
 * neighbouring columns (real, imaginary) of factors [P, W], which repeat for every P rows; or by the factor's conjugate.
 * Not differentiable: its transpose is itself with the other choice of `conjugate`.
 */
export function rotatePairs(x_NW: tf.Tensor, factors_PW: tf.Tensor, conjugate: boolean): tf.Tensor {
  if (runsWasm()) {
    return tf.engine().runKernel(MULTIPLY_PAIRS_KERNEL, { x: x_NW, factors: factors_PW }, { conjugate });
  }
  const numPairs = factors_PW.size / 2;
  const x = tf.reshape(x_NW, [-1, numPairs, 2]);
  const factors = tf.reshape(factors_PW, [1, numPairs, 2]);
  const product = runsTensorflow()
    ? complexProduct(x, factors, conjugate)
    : realProduct(x, factors, conjugate);
  return tf.reshape(product, x_NW.shape);
}

/** Multiplies in one pass: pairs are reinterpreted as complex numbers without a copy. */
function complexProduct(x: tf.Tensor, factors: tf.Tensor, conjugate: boolean): tf.Tensor {
  const attributes = { T: { type: 'complex64' } } as const;
  const toComplex = (pairs: tf.Tensor) =>
    rawOp('Bitcast', [pairs], { T: { type: 'float32' }, type: { type: 'complex64' } });
  const complexFactors = conjugate ? rawOp('Conj', [toComplex(factors)], attributes) : toComplex(factors);
  const product = rawOp('Mul', [toComplex(x), complexFactors], attributes);
  return rawOp('Bitcast', [product], { T: { type: 'complex64' }, type: { type: 'float32' } });
}

function realProduct(x: tf.Tensor, factors: tf.Tensor, conjugate: boolean): tf.Tensor {
  const [real, imaginary] = tf.unstack(x, 2);
  const [cos, sine] = tf.unstack(factors, 2);
  const sin = conjugate ? tf.neg(sine) : sine;
  return tf.stack(
    [tf.sub(tf.mul(real, cos), tf.mul(imaginary, sin)), tf.add(tf.mul(real, sin), tf.mul(imaginary, cos))],
    2,
  );
}
