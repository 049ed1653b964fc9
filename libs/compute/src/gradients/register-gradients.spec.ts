import * as tf from '../tensorflow.js';
import { describe, expect, it } from 'vitest';
import { normal } from '../testing/index.js';
import { onEachBackend } from '../testing/on-each-backend.js';
import { GRADIENTS } from './register-gradients.js';

type OfMatrix = (x: tf.Tensor2D) => tf.Tensor;

const SHAPE: [number, number] = [3, 4];
const matrix = (seed: number): tf.Tensor2D => normal(SHAPE, seed) as tf.Tensor2D;
const row = (seed: number): tf.Tensor => normal([4], seed);

/** By kernel: expressions of a [3, 4] matrix that go through it, where possible by the operand that is broadcast too. */
const EXPRESSIONS: Readonly<Record<string, readonly OfMatrix[]>> = {
  [tf.Add]: [(x) => tf.add(x, matrix(2)), (x) => tf.add(tf.ones([2, 3, 4]), x)],
  [tf.Multiply]: [(x) => tf.mul(x, row(2)), (x) => tf.mul(normal([2, 3, 4], 2), x), (x) => tf.mul(x, x)],
  [tf.Reshape]: [(x) => tf.reshape(x, [2, 6])],
  [tf.Concat]: [(x) => tf.concat([x, matrix(2), tf.mul(x, 2)], -1)],
  [tf.SplitV]: [
    (x) => tf.split(x, [1, 3], 1)[1],
    (x) => tf.mul(...(tf.split(x, 2, 1) as [tf.Tensor, tf.Tensor])),
  ],
  [tf.Tile]: [(x) => tf.tile(x, [2, 3]), (x) => tf.tile(tf.reshape(x, [2, 3, 2]), [1, 2, 1])],
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
    (x) => tf.gather(x, tf.reshape(tf.tensor1d([2, 0, 2, 2], 'int32'), [2, 2])),
    (x) => tf.gather(tf.reshape(x, [2, 3, 2]), tf.tensor1d([1, 1, 0], 'int32')),
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
  it('all have an expression in this spec', () => {
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
