import * as tf from '@tensorflow/tfjs-core';
import { withGradient } from './with-gradient.js';

export function linear(x: tf.Tensor, weight: tf.Tensor, bias: tf.Tensor | null): tf.Tensor {
  const y = tf.matMul(x, weight, false, true);
  return bias === null ? y : tf.add(y, bias);
}

export function rmsNorm(x: tf.Tensor, weight: tf.Tensor, eps: number): tf.Tensor {
  const forward = () => {
    const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(x), 1, true), eps));
    const normed = tf.mul(x, inverse);
    return { value: tf.mul(normed, weight), saved: [normed, inverse, weight] };
  };
  const backward = (dy: tf.Tensor, [normed, inverse, scale]: tf.Tensor[]) => {
    const dNormed = tf.mul(dy, scale);
    const dx = tf.mul(inverse, tf.sub(dNormed, tf.mul(normed, tf.mean(tf.mul(dNormed, normed), 1, true))));
    return [dx, tf.sum(tf.mul(dy, normed), 0)];
  };
  return withGradient([x, weight], forward, backward);
}

export function swiGlu(gateUp: tf.Tensor): tf.Tensor {
  const forward = () => {
    const [gate, up] = tf.split(gateUp, 2, 1);
    const sigmoid = tf.sigmoid(gate);
    const silu = tf.mul(gate, sigmoid);
    return { value: tf.mul(silu, up), saved: [up, sigmoid, silu] };
  };
  const backward = (dy: tf.Tensor, [up, sigmoid, silu]: tf.Tensor[]) => {
    const slope = tf.add(sigmoid, tf.mul(silu, tf.sub(1, sigmoid)));
    return [tf.concat([tf.mul(tf.mul(dy, up), slope), tf.mul(dy, silu)], 1)];
  };
  return withGradient([gateUp], forward, backward);
}

export function embed(ids: Int32Array, weight: tf.Tensor): tf.Tensor {
  const forward = () => ({ value: tf.gather(weight, tf.tensor1d(ids, 'int32')), saved: [] });
  const backward = (dy: tf.Tensor) => {
    const oneHot = tf.oneHot(tf.tensor1d(ids, 'int32'), weight.shape[0], 1, 0, 'float32');
    return [tf.matMul(oneHot, dy, true, false)];
  };
  return withGradient([weight], forward, backward);
}
