import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { normal } from '../testing/index.js';
import { onEachBackend } from '../testing/on-each-backend.js';
import { GRADIENTS } from './register-gradients.js';

type OfMatrix = (x: tf.Tensor2D) => tf.Tensor;

const SHAPE: [number, number] = [3, 4];
const matrix = (seed: number): tf.Tensor2D => normal(SHAPE, seed) as tf.Tensor2D;
const row = (seed: number): tf.Tensor => normal([4], seed);
/** Away from zero, where no kernel of these tests has a kink. */
const positive = (x: tf.Tensor): tf.Tensor => tf.add(tf.square(x), 0.5);

/** By kernel: expressions of a [3, 4] matrix that go through it, where possible by the operand that is broadcast too. */
const EXPRESSIONS: Readonly<Record<string, readonly OfMatrix[]>> = {
  [tf.Add]: [(x) => tf.add(x, matrix(2)), (x) => tf.add(tf.ones([2, 3, 4]), x)],
  [tf.Sub]: [(x) => tf.sub(x, row(2)), (x) => tf.sub(tf.ones([2, 3, 4]), x)],
  [tf.Multiply]: [(x) => tf.mul(x, row(2)), (x) => tf.mul(normal([2, 3, 4], 2), x), (x) => tf.mul(x, x)],
  [tf.RealDiv]: [(x) => tf.div(x, positive(row(2))), (x) => tf.div(normal([2, 3, 4], 2), positive(x))],
  [tf.Maximum]: [(x) => tf.maximum(x, row(2)), (x) => tf.maximum(normal([2, 3, 4], 2), x)],
  [tf.Minimum]: [(x) => tf.minimum(x, row(2)), (x) => tf.minimum(normal([2, 3, 4], 2), x)],
  [tf.AddN]: [(x) => tf.addN([x, matrix(2), tf.square(x)])],
  [tf.Neg]: [(x) => tf.neg(x)],
  [tf.Identity]: [(x) => tf.clone(x)],
  [tf.Cast]: [(x) => tf.cast(x, 'float32')],
  [tf.Sign]: [(x) => tf.sign(x)],
  [tf.OnesLike]: [(x) => tf.add(tf.onesLike(x), x)],
  [tf.ZerosLike]: [(x) => tf.add(tf.zerosLike(x), x)],
  [tf.Abs]: [(x) => tf.abs(x)],
  [tf.Square]: [(x) => tf.square(x)],
  [tf.Sqrt]: [(x) => tf.sqrt(positive(x))],
  [tf.Rsqrt]: [(x) => tf.rsqrt(positive(x))],
  [tf.Log]: [(x) => tf.log(positive(x))],
  [tf.Exp]: [(x) => tf.exp(x)],
  [tf.Expm1]: [(x) => tf.expm1(x)],
  [tf.Sigmoid]: [(x) => tf.sigmoid(x)],
  [tf.Tanh]: [(x) => tf.tanh(x)],
  [tf.ClipByValue]: [(x) => tf.clipByValue(x, -0.3, 0.9)],
  [tf.Select]: [(x) => tf.where(tf.greater(matrix(2), 0), x, tf.square(x))],
  [tf.Reshape]: [(x) => tf.reshape(x, [2, 6])],
  [tf.ExpandDims]: [(x) => tf.expandDims(x, 1)],
  [tf.Transpose]: [(x) => tf.transpose(x), (x) => tf.transpose(tf.reshape(x, [2, 3, 2]), [2, 0, 1])],
  [tf.Slice]: [(x) => tf.slice(x, [1, 1], [2, -1])],
  [tf.Concat]: [(x) => tf.concat([x, matrix(2), tf.square(x)], -1)],
  [tf.SplitV]: [
    (x) => tf.split(x, [1, 3], 1)[1],
    (x) => tf.mul(...(tf.split(x, 2, 1) as [tf.Tensor, tf.Tensor])),
  ],
  [tf.Pack]: [(x) => tf.stack([x, tf.square(x)], 1)],
  [tf.Unpack]: [(x) => tf.unstack(x, 1)[2]],
  [tf.Tile]: [(x) => tf.tile(x, [2, 3]), (x) => tf.tile(tf.reshape(x, [2, 3, 2]), [1, 2, 1])],
  [tf.Sum]: [(x) => tf.sum(x), (x) => tf.sum(x, 0), (x) => tf.sum(x, -1, true)],
  [tf.Mean]: [(x) => tf.mean(x), (x) => tf.mean(x, 1)],
  [tf.Max]: [(x) => tf.max(x), (x) => tf.max(x, 1), (x) => tf.max(x, 0, true)],
  [tf.Min]: [(x) => tf.min(x), (x) => tf.min(x, 1)],
  [tf.Cumsum]: [
    (x) => tf.cumsum(x, 1),
    (x) => tf.cumsum(x, 0, true),
    (x) => tf.cumsum(x, 1, false, true),
    (x) => tf.cumsum(x, 0, true, true),
  ],
  [tf.Softmax]: [(x) => tf.softmax(x)],
  [tf.LogSoftmax]: [(x) => tf.logSoftmax(x)],
  [tf.BatchMatMul]: [
    (x) => tf.matMul(x, normal([4, 2], 2) as tf.Tensor2D),
    (x) => tf.matMul(x, normal([2, 4], 2) as tf.Tensor2D, false, true),
    (x) => tf.matMul(x, normal([3, 2], 2) as tf.Tensor2D, true, false),
    (x) => tf.matMul(x, normal([2, 3], 2) as tf.Tensor2D, true, true),
    (x) => tf.matMul(normal([2, 3], 2) as tf.Tensor2D, x),
    (x) => tf.matMul(normal([2, 4], 2) as tf.Tensor2D, x, false, true),
    (x) => tf.matMul(normal([3, 2], 2) as tf.Tensor2D, x, true, false),
    (x) => tf.matMul(normal([4, 2], 2) as tf.Tensor2D, x, true, true),
  ],
  [tf.GatherV2]: [
    (x) => tf.gather(x, tf.tensor1d([2, 0, 2, 2], 'int32')),
    (x) =>
      tf.gather(
        x,
        tf.tensor2d(
          [
            [3, 0],
            [3, 1],
          ],
          [2, 2],
          'int32',
        ),
        1,
      ),
    (x) => tf.gather(tf.reshape(x, [2, 3, 2]), tf.tensor1d([1, 1, 0], 'int32'), 1),
  ],
  [tf.UnsortedSegmentSum]: [
    (x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, 0, 1], 'int32'), 3),
    (x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, -1, 0], 'int32'), 2),
  ],
};

/** Σ w·f(x) with fixed random weights, so that every element of the output has another gradient. */
function scalarOf(expression: OfMatrix): (x: tf.Tensor) => tf.Scalar {
  return (x) => {
    const y = expression(x as tf.Tensor2D);
    return tf.sum(tf.mul(y, normal(y.shape, 7)));
  };
}

/** (f(x + h) − f(x − h)) / 2h for each element in turn. */
function centralDifferences(f: (x: tf.Tensor) => tf.Scalar, x: Float32Array, h = 1e-2): number[] {
  return Array.from(x, (_, index) => {
    const at = (offset: number): number =>
      tf.tidy(
        () =>
          f(
            tf.tensor2d(
              x.map((value, i) => (i === index ? value + offset : value)),
              SHAPE,
            ),
          ).dataSync()[0],
      );
    return (at(h) - at(-h)) / (2 * h);
  });
}

describe('GRADIENTS', () => {
  it('are all tested', () => {
    expect(Object.keys(EXPRESSIONS).sort()).toEqual(Object.keys(GRADIENTS).sort());
  });
});

await onEachBackend('registerGradients', () => {
  it.each(Object.entries(EXPRESSIONS))('%s: agrees with central differences', (_, expressions) => {
    for (const expression of expressions) {
      const f = scalarOf(expression);
      const x = matrix(1);
      const gradient = tf.grad(f)(x).dataSync();
      const expected = centralDifferences(f, x.dataSync() as Float32Array);
      expected.forEach((value, i) => {
        expect(Math.abs(gradient[i] - value)).toBeLessThan(5e-3 * (1 + Math.abs(value)));
      });
    }
  });
});
