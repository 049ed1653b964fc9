import * as tf from '../../tensorflow.js';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';
import { rawOp, runsTensorflow } from '../kernels/raw-op.js';
import { withGradient } from '../gradients/with-gradient.js';

/**
 * Root-mean-square norm of the rows of x [N, H], without a weight: y = x/√(mean(x²) + ε) (arXiv:1910.07467), one node
 * of the tape. With r = 1/√(mean(x²) + ε): dx = r(dy − y·mean(dy·y)).
 */
export function rmsNorm(x_NH: tf.Tensor, epsilon: number): tf.Tensor {
  const isNative = hasNativeOps();
  const forward = () => {
    const saved = isNative
      ? nativeOp('RetraceRmsNorm', [x_NH, tf.scalar(epsilon)])
      : composedNorm(x_NH, epsilon);
    return { value: saved[0], saved };
  };
  const backward = (dy_NH: tf.Tensor, saved: tf.Tensor[]) =>
    isNative ? nativeOp('RetraceRmsNormGradient', [dy_NH, ...saved]) : [composedGradient(dy_NH, saved)];
  return withGradient([x_NH], forward, backward);
}

/** y and r. */
function composedNorm(x_NH: tf.Tensor, epsilon: number): tf.Tensor[] {
  const inverse_N1 = tf.rsqrt(tf.add(meanSquare(x_NH), epsilon));
  return [tf.mul(x_NH, inverse_N1), inverse_N1];
}

function composedGradient(dy_NH: tf.Tensor, [y_NH, inverse_N1]: tf.Tensor[]): tf.Tensor {
  const mean_N1 = tf.div(tf.sum(tf.mul(dy_NH, y_NH), 1, true), rowSize(y_NH));
  return tf.mul(tf.sub(dy_NH, tf.mul(y_NH, mean_N1)), inverse_N1);
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
