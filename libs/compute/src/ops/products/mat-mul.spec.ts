import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { matMul } from './mat-mul.js';

const flags = [false, true];

await onEachBackend('matMul', () => {
  for (const transposeA of flags) {
    for (const transposeB of flags) {
      const name = `${transposeA ? 'aᵀ' : 'a'}·${transposeB ? 'bᵀ' : 'b'}`;
      const shapes = (m: number, k: number, n: number, batch: number[]) => [
        normal([...batch, ...(transposeA ? [k, m] : [m, k])], 1),
        normal([...batch, ...(transposeB ? [n, k] : [k, n])], 2),
      ];
      const actual = (a: tf.Tensor, b: tf.Tensor) => matMul(a, b, { transposeA, transposeB });
      const expected = (a: tf.Tensor, b: tf.Tensor) => tf.matMul(a, b, transposeA, transposeB);

      it(`multiplies matrices as ${name}`, () => {
        expectSameFunction(actual, expected, shapes(5, 3, 4, []));
      });
      it(`multiplies batches of matrices as ${name}`, () => {
        expectSameFunction(actual, expected, shapes(5, 3, 4, [2, 3]));
      });
      it(`multiplies batches of large matrices, one by one in WebAssembly, as ${name}`, () => {
        expectSameFunction(actual, expected, shapes(160, 128, 128, [1, 2]));
      });
    }
  }

  it('gives the product that is written out in the test', () => {
    // [1 2]·[5 7; 6 8]ᵀ = [1·5 + 2·7, 1·6 + 2·8]
    const product = matMul(
      tf.tensor2d([[1, 2]]),
      tf.tensor2d([
        [5, 7],
        [6, 8],
      ]),
      { transposeB: true },
    );
    expect([...product.dataSync()]).toEqual([19, 22]);
  });
});
