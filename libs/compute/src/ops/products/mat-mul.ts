import * as tf from '../../tensorflow.js';
import { runsWasm } from '../kernels/raw-op.js';
import { withGradient } from '../gradients/with-gradient.js';
import type { Backward } from '../gradients/with-gradient.js';

export interface MatMulOptions {
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
}

/** From this many multiply-adds a matrix, WebAssembly multiplies batches faster matrix by matrix. */
const SLICE_FROM = 2 ** 21;

/**
 * op(a)·op(b) of matrices, or of equal batches of matrices, where op transposes the last two axes or does nothing.
 *
 * TensorFlow computes every form at full speed. In WebAssembly all forms but the product of two matrices as they are take
 * 10 to 15 times as long, so matrices are transposed first there, and batches of large ones are multiplied one by one.
 */
export function matMul(
  a: tf.Tensor,
  b: tf.Tensor,
  { transposeA = false, transposeB = false }: MatMulOptions = {},
): tf.Tensor {
  if (!runsWasm()) return tf.matMul(a, b, transposeA, transposeB);
  // The gradient of aᵀ is the transpose of the gradient of a, which swaps the factors.
  const gradientOfA = (dy: tf.Tensor, b: tf.Tensor) =>
    transposeA ? plainMatMul(b, dy, transposeB, true) : plainMatMul(dy, b, false, !transposeB);
  const gradientOfB = (dy: tf.Tensor, a: tf.Tensor) =>
    transposeB ? plainMatMul(dy, a, true, transposeA) : plainMatMul(a, dy, !transposeA, false);
  const backward: Backward = (dy, [a, b], [wantsA, wantsB]) => [
    wantsA ? gradientOfA(dy, b) : null,
    wantsB ? gradientOfB(dy, a) : null,
  ];
  return withGradient(
    [a, b],
    () => ({ value: plainMatMul(a, b, transposeA, transposeB), saved: [a, b] }),
    backward,
  );
}

function plainMatMul(a: tf.Tensor, b: tf.Tensor, transposeA: boolean, transposeB: boolean): tf.Tensor {
  const left = transposeA ? transposeLast(a) : a;
  const right = transposeB ? transposeLast(b) : b;
  const [numRows, numInner] = left.shape.slice(-2);
  const numColumns = right.shape[right.rank - 1];
  if (left.rank === 2 || numRows * numInner * numColumns < SLICE_FROM) return tf.matMul(left, right);
  const lefts = tf.unstack(tf.reshape(left, [-1, numRows, numInner]));
  const rights = tf.unstack(tf.reshape(right, [-1, numInner, numColumns]));
  const products = lefts.map((matrix, index) =>
    tf.matMul(matrix as tf.Tensor2D, rights[index] as tf.Tensor2D),
  );
  return tf.reshape(tf.stack(products), [...left.shape.slice(0, -1), numColumns]);
}

function transposeLast(x: tf.Tensor): tf.Tensor {
  const axes = x.shape.map((_, axis) => axis);
  const last = axes.length - 1;
  return tf.transpose(x, [...axes.slice(0, last - 1), last, last - 1]);
}
