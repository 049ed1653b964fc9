import * as tf from '@tensorflow/tfjs-core';
import { type Gradients, mask } from './gradient.js';

/** Gradients of kernels of two operands, which broadcast, and of sums of many. */
export const ARITHMETIC_GRADIENTS: Gradients = {
  [tf.Add]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({ a: () => sumTo(a, dy), b: () => sumTo(b, dy) }),
  },
  [tf.Sub]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({ a: () => sumTo(a, dy), b: () => tf.neg(sumTo(b, dy)) }),
  },
  [tf.Multiply]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({
      a: () => sumTo(a, tf.mul(dy, tf.cast(b, 'float32'))),
      b: () => sumTo(b, tf.mul(dy, tf.cast(a, 'float32'))),
    }),
  },
  // ∂(a/b)/∂a = 1/b, ∂(a/b)/∂b = −a/b²
  [tf.RealDiv]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({
      a: () => sumTo(a, tf.div(dy, tf.cast(b, 'float32'))),
      b: () => tf.neg(tf.div(sumTo(b, tf.mul(dy, tf.cast(a, 'float32'))), tf.cast(tf.square(b), 'float32'))),
    }),
  },
  // Equal operands: all of the gradient goes to `a`.
  [tf.Maximum]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({
      a: () => sumTo(a, tf.mul(dy, mask(tf.greaterEqual(a, b)))),
      b: () => sumTo(b, tf.mul(dy, mask(tf.less(a, b)))),
    }),
  },
  [tf.Minimum]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({
      a: () => sumTo(a, tf.mul(dy, mask(tf.lessEqual(a, b)))),
      b: () => sumTo(b, tf.mul(dy, mask(tf.greater(a, b)))),
    }),
  },
  [tf.AddN]: {
    inputs: 'all',
    of: (dy: tf.Tensor, terms) => terms.map(() => () => tf.clone(dy)),
  },
};

/** Sums a gradient over the axes along which `operand` was broadcast. */
function sumTo(operand: tf.Tensor, gradient: tf.Tensor): tf.Tensor {
  const axes = tf.broadcast_util.getReductionAxes(operand.shape, gradient.shape);
  return tf.reshape(axes.length > 0 ? tf.sum(gradient, axes) : gradient, operand.shape);
}
