import * as tf from '@tensorflow/tfjs-core';
import { type Gradient, type Gradients, mask } from './gradient.js';

/** Gradients of kernels that map each element by itself. */
export const ELEMENTWISE_GRADIENTS: Gradients = {
  [tf.Neg]: passing((dy) => tf.neg(dy)),
  [tf.Identity]: passing((dy) => tf.cast(dy, 'float32')),
  [tf.Cast]: passing((dy) => tf.clone(dy)),
  [tf.Sign]: passing((dy) => tf.zerosLike(dy)),
  [tf.OnesLike]: passing((dy) => tf.zerosLike(dy)),
  [tf.ZerosLike]: passing((dy) => tf.zerosLike(dy)),
  // Step gives 1 above zero and −1 elsewhere.
  [tf.Abs]: ofInput((dy, x) => tf.mul(dy, tf.step(tf.cast(x, 'float32'), -1))),
  [tf.Square]: ofInput((dy, x) => tf.mul(dy, tf.mul(tf.cast(x, 'float32'), 2))),
  [tf.Sqrt]: ofInput((dy, x) => tf.div(dy, tf.mul(tf.sqrt(tf.cast(x, 'float32')), 2))),
  [tf.Rsqrt]: ofInput((dy, x) => tf.neg(tf.div(dy, tf.mul(tf.pow(x, 1.5), 2)))),
  [tf.Log]: ofInput((dy, x) => tf.div(dy, tf.cast(x, 'float32'))),
  [tf.Expm1]: ofInput((dy, x) => tf.mul(dy, tf.exp(x))),
  [tf.Exp]: ofOutput((dy, y) => tf.mul(dy, y)),
  [tf.Sigmoid]: ofOutput((dy, y) => tf.mul(dy, tf.mul(y, tf.sub(1, y)))),
  [tf.Tanh]: ofOutput((dy, y) => tf.mul(dy, tf.sub(1, tf.square(y)))),
  [tf.ClipByValue]: {
    inputs: ['x'],
    of: (dy: tf.Tensor, [x], { clipValueMin, clipValueMax }) => ({
      x: () => {
        const isInside = tf.logicalAnd(
          tf.greaterEqual(x, clipValueMin as number),
          tf.lessEqual(x, clipValueMax as number),
        );
        return tf.where(isInside, dy, tf.zerosLike(dy));
      },
    }),
  },
  [tf.Select]: {
    inputs: ['condition'],
    of: (dy: tf.Tensor, [condition]) => ({
      condition: () => mask(tf.zerosLike(condition)),
      t: () => tf.mul(dy, mask(condition)),
      e: () => tf.mul(dy, mask(tf.logicalNot(condition))),
    }),
  },
};

function passing(gradient: (dy: tf.Tensor) => tf.Tensor): Gradient {
  return { of: (dy: tf.Tensor) => ({ x: () => gradient(dy) }) };
}

function ofInput(gradient: (dy: tf.Tensor, x: tf.Tensor) => tf.Tensor): Gradient {
  return { inputs: ['x'], of: (dy: tf.Tensor, [x]) => ({ x: () => gradient(dy, x) }) };
}

function ofOutput(gradient: (dy: tf.Tensor, y: tf.Tensor) => tf.Tensor): Gradient {
  return { output: true, of: (dy: tf.Tensor, [y]) => ({ x: () => gradient(dy, y) }) };
}
