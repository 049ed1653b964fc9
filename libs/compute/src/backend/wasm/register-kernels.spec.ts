import * as tf from '../../tensorflow.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { normal } from '../../testing/expect-same-function.js';
import { openBackend } from '../open-backend.js';

describe('kernels of the wasm backend', () => {
  beforeAll(async () => {
    await openBackend({ prefer: ['wasm'] });
  });

  it('writes floats into a float one-hot', () => {
    const oneHot = tf.oneHot(tf.tensor1d([2, 0, 7], 'int32'), 3, 1, 0, 'float32');
    expect([...oneHot.dataSync()]).toEqual([0, 0, 1, 1, 0, 0, 0, 0, 0]);
  });

  it('writes integers into an integer one-hot, with other values', () => {
    const oneHot = tf.oneHot(tf.tensor2d([[1], [0]], [2, 1], 'int32'), 2, 5, -1);
    expect(oneHot.shape).toEqual([2, 1, 2]);
    expect([...oneHot.dataSync()]).toEqual([-1, 5, 5, -1]);
  });

  it('ignores ids out of range in a segment sum', () => {
    const sums = tf.unsortedSegmentSum(
      tf.tensor2d([[1], [2], [4], [8]]),
      tf.tensor1d([0, -1, 0, 5], 'int32'),
      2,
    );
    expect([...sums.dataSync()]).toEqual([5, 0]);
  });

  it.each([2, 100])('gathers rows of %i elements, in two dimensions of ids', (width) => {
    const table = tf.reshape(tf.range(0, 4 * width), [4, width]);
    const rows = tf.gather(
      table,
      tf.tensor2d(
        [
          [3, 0],
          [3, 1],
        ],
        [2, 2],
        'int32',
      ),
    );
    expect(rows.shape).toEqual([2, 2, width]);
    expect([...tf.slice(rows, [0, 0, 0], [2, 2, 1]).dataSync()]).toEqual([3 * width, 0, 3 * width, width]);
  });

  it('refuses to gather a row that does not exist', () => {
    expect(() => tf.gather(tf.zeros([4, 2]), tf.tensor1d([4], 'int32'))).toThrow('index 4 is not in 0 … 3');
  });

  it("gathers along another axis with the package's kernel", () => {
    const columns = tf.gather(
      tf.tensor2d([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      tf.tensor1d([2, 0], 'int32'),
      1,
    );
    expect([...columns.dataSync()]).toEqual([3, 1, 6, 4]);
  });

  it.each([0, 1, 2])('splits axis %i into parts that join to the whole', (axis) => {
    const x = normal([6, 6, 120], 1);
    const parts = tf.split(x, axis === 2 ? [20, 100] : [1, 5], axis);
    expect([...tf.concat(parts, axis).dataSync()]).toEqual([...x.dataSync()]);
  });

  it('transposes a matrix that is not a multiple of a tile', () => {
    const x = normal([70, 45], 1);
    const expected = x.arraySync() as number[][];
    const transposed = tf.transpose(x).arraySync() as number[][];
    transposed.forEach((row, j) => {
      row.forEach((value, i) => {
        expect(value).toBe(expected[i][j]);
      });
    });
  });
});
