import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { lookup, sumRowsById } from './lookup.js';

await onEachBackend('lookup', () => {
  it('has the value and the gradient of a product with one-hot rows', () => {
    const ids = Int32Array.of(2, 0, 2, 5, 2);
    const oneHot = (table: tf.Tensor) =>
      tf.matMul(tf.oneHot(tf.tensor1d(ids, 'int32'), 6, 1, 0, 'float32') as tf.Tensor2D, table);
    expectSameFunction((table) => lookup(ids, table), oneHot, [normal([6, 4], 1)]);
  });

  it('sums rows by id, and gives 0 for ids that do not occur', () => {
    const rows = tf.tensor2d([
      [1, 10],
      [2, 20],
      [4, 40],
    ]);
    const sums = sumRowsById(rows, Int32Array.of(1, 3, 1), 4);
    expect([...sums.dataSync()]).toEqual([0, 0, 5, 50, 0, 0, 2, 20]);
  });

  it('returns no rows for no ids', () => {
    expect(lookup(new Int32Array(0), normal([3, 2], 1)).shape).toEqual([0, 2]);
  });

  it('gives bit-equal gradients every time', () => {
    const ids = Int32Array.from({ length: 5_000 }, (_, n) => (n * n) % 43);
    const dy = normal([ids.length, 16], 3);
    const first = [...sumRowsById(dy, ids, 43).dataSync()];
    for (let repeat = 0; repeat < 5; repeat++)
      expect([...sumRowsById(dy, ids, 43).dataSync()]).toEqual(first);
  });
});
