import * as tf from '@tensorflow/tfjs-core';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';
import { rawOp, runsTensorflow } from '../kernels/raw-op.js';
import { withGradient } from '../gradients/with-gradient.js';

/**
 * Root-mean-square norm of the rows of x [N, H], without a weight: y = x/√(mean(x²) + ε) (arXiv:1910.07467), one node
 * of the tape. With r = 1/√(mean(x²) + ε): dx = r(dy − y·mean(dy·y)).
 */
export function rmsNorm(x_NH: tf.Tensor, epsilon: number): tf.Tensor {
  return hasNativeOps() ? nativeRmsNorm(x_NH, epsilon) : composedRmsNorm(x_NH, epsilon);
}

function nativeRmsNorm(x_NH: tf.Tensor, epsilon: number): tf.Tensor {
  const forward = () => {
    const [y_NH, inverse_N1] = nativeOp('RetraceRmsNorm', [x_NH, tf.scalar(epsilon)]);
    return { value: y_NH, saved: [y_NH, inverse_N1] };
  };
  const backward = (dy_NH: tf.Tensor, saved: tf.Tensor[]) =>
    nativeOp('RetraceRmsNormGradient', [dy_NH, ...saved]);
  return withGradient([x_NH], forward, backward);
}

function composedRmsNorm(x_NH: tf.Tensor, epsilon: number): tf.Tensor {
  const forward = () => {
    const inverse_N1 = tf.rsqrt(tf.add(meanSquare(x_NH), epsilon));
    const y_NH = tf.mul(x_NH, inverse_N1);
    return { value: y_NH, saved: [y_NH, inverse_N1] };
  };
  const backward = (dy_NH: tf.Tensor, [y, inverse]: tf.Tensor[]) => {
    const mean_N1 = tf.div(tf.sum(tf.mul(dy_NH, y), 1, true), rowSize(y));
    return [tf.mul(tf.sub(dy_NH, tf.mul(y, mean_N1)), inverse)];
  };
  return withGradient([x_NH], forward, backward);
}

/** The factors of a product that is not computed yet: rows·matrixᵀ. */
export interface PendingProduct {
  /** [N, H] */
  readonly rows: tf.Tensor;
  /** [O, H] */
  readonly matrix: tf.Tensor;
}

/** A matrix of at most this many elements is usually smaller than the rows that it is multiplied with. */
const SMALL_MATRIX = 2 ** 17;

/**
 * (rows ⊙ w)·matrixᵀ = rows·(matrix ⊙ w)ᵀ for rows [N, H], w [H], matrix [O, H]: multiplies the matrix by w if it is small.
 * The number of rows has no influence, so that a row is rounded in the same way whichever rows are beside it.
 */
export function applyNormWeight(weight_H: tf.Tensor, { rows, matrix }: PendingProduct): PendingProduct {
  return matrix.size <= SMALL_MATRIX
    ? { rows, matrix: tf.mul(matrix, weight_H) }
    : { rows: tf.mul(rows, weight_H), matrix };
}

function meanSquare(x_NH: tf.Tensor): tf.Tensor {
  if (!runsTensorflow()) return tf.mean(tf.square(x_NH), 1, true);
  const norm = rawOp('EuclideanNorm', [x_NH, tf.tensor1d([1], 'int32')], {
    T: { type: 'float32' },
    Tidx: { type: 'int32' },
    keep_dims: true,
  });
  return tf.div(tf.square(norm), rowSize(x_NH));
}

function rowSize(x_NH: tf.Tensor): number {
  return x_NH.shape[x_NH.rank - 1];
}
