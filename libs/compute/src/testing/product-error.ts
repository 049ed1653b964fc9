import * as tf from '../tensorflow.js';
import { openBackend } from '../backend/open-backend.js';
import { matMul } from '../ops/products/mat-mul.js';

/** Makes this module a program when it is run with this argument. */
export const PROGRAM_FLAG = '--print-product-error';

const SIZE = 128;

/** The largest error of a product of two matrices of random numbers against doubles, relative to its largest element. */
function productError(): number {
  const [a, b] = [1, 2].map((seed) => tf.randomNormal([SIZE, SIZE], 0, 1, 'float32', seed));
  const [x, y, actual] = [a, b, matMul(a, b)].map((tensor) => tensor.dataSync());
  let worst = 0;
  let largest = 0;
  for (let cell = 0; cell < SIZE * SIZE; cell++) {
    let expected = 0;
    const [row, column] = [Math.floor(cell / SIZE), cell % SIZE];
    for (let k = 0; k < SIZE; k++) expected += x[row * SIZE + k] * y[k * SIZE + column];
    worst = Math.max(worst, Math.abs(actual[cell] - expected));
    largest = Math.max(largest, Math.abs(expected));
  }
  return worst / largest;
}

/** As a program: prints that error on TensorFlow under the precision, and for the largest matrix, that its arguments name. */
if (process.argv[2] === PROGRAM_FLAG) {
  const matMulPrecision = process.argv[3] as 'float32' | 'bfloat16';
  await openBackend({ prefer: ['tensorflow'], matMulPrecision, largestMatrix: Number(process.argv[4]) });
  console.log(productError());
}
