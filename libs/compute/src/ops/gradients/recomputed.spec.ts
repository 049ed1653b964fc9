import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { freeze } from './frozen.js';
import { linear } from '../products/linear.js';
import { recomputed } from './recomputed.js';
import { rmsNorm } from '../layers/rms-norm.js';

await onEachBackend('recomputed', () => {
  const chain =
    (layer: (x: tf.Tensor, weight: tf.Tensor) => tf.Tensor, weights: tf.Tensor[]) => (x: tf.Tensor) =>
      tf.sum(tf.square(weights.reduce(layer, x)));
  const plain = (x: tf.Tensor, weight: tf.Tensor) => tf.add(x, linear(rmsNorm(x, 1e-6), weight, null));
  const checkpointed = (x: tf.Tensor, weight: tf.Tensor) => recomputed(x, [weight], (y) => plain(y, weight));

  it('gives the value and the gradients of the function, bit for bit', () => {
    const [x, ...weights] = [normal([6, 8], 1), normal([8, 8], 2), normal([8, 8], 3)];
    const [expected, actual] = [plain, checkpointed].map((layer) => {
      const f = chain(layer, weights);
      const { value, grads } = tf.valueAndGrads(() => f(x))([x, ...weights]);
      return [value, ...grads].map((tensor) => [...tensor.dataSync()]);
    });
    expect(actual).toEqual(expected);
  });

  it('differentiates only by tensors that are not frozen', () => {
    const [x, frozen, trained] = [freeze(normal([6, 8], 1)), freeze(normal([8, 8], 2)), normal([8, 8], 3)];
    const [expected, actual] = [plain, checkpointed].map((layer) => {
      const f = chain(layer, [frozen, trained]);
      return [
        ...tf
          .grads(() => f(x))([trained])[0]
          .dataSync(),
      ];
    });
    expect(actual).toEqual(expected);
  });

  it('frees its intermediate tensors, and leaks none', () => {
    const [x, weight] = [normal([6, 8], 1), normal([8, 8], 2)];
    const gradient = () =>
      tf.dispose(tf.grads(() => chain(checkpointed, [weight, weight, weight])(x))([x, weight]));
    gradient();
    const before = tf.memory().numTensors;
    gradient();
    expect(tf.memory().numTensors).toBe(before);
  });
});
