import * as tf from '@tensorflow/tfjs-core';
import type { Gradients } from './gradient.js';

/** Gradients of kernels that only move elements. */
export const SHAPE_GRADIENTS: Gradients = {
  [tf.Reshape]: {
    inputs: ['x'],
    of: (dy: tf.Tensor, [x]) => ({ x: () => tf.reshape(dy, x.shape) }),
  },
  [tf.ExpandDims]: {
    inputs: ['input'],
    of: (dy: tf.Tensor, [input]) => ({ input: () => tf.reshape(dy, input.shape) }),
  },
  [tf.Transpose]: {
    of: (dy: tf.Tensor, _, { perm }) => ({
      x: () => tf.transpose(dy, tf.backend_util.getUndoAxesPermutation(perm as number[])),
    }),
  },
  [tf.Slice]: {
    inputs: ['x'],
    of: (dy: tf.Tensor, [x], { begin, size }) => ({
      x: () => {
        const [starts, sizes] = tf.slice_util.parseSliceParams(x, begin as number[], size as number[]);
        return tf.pad(
          dy,
          x.shape.map((length, axis) => [starts[axis], length - starts[axis] - sizes[axis]]),
        );
      },
    }),
  },
  [tf.Concat]: {
    inputs: 'all',
    of: (dy: tf.Tensor, parts, { axis }) => {
      const [along] = tf.util.parseAxisParam(axis as number, parts[0].shape);
      const sizes = parts.map(({ shape }) => shape[along]);
      return tf.split(dy, sizes, along).map((part) => () => part);
    },
  },
  [tf.SplitV]: {
    of: (dy: tf.Tensor[], _, { axis }) => ({ x: () => tf.concat(dy, axis as number) }),
  },
  [tf.Pack]: {
    inputs: 'all',
    of: (dy: tf.Tensor, _, { axis }) => tf.unstack(dy, axis as number).map((part) => () => part),
  },
  [tf.Unpack]: {
    of: (dy: tf.Tensor[], _, { axis }) => ({ value: () => tf.stack(dy, axis as number) }),
  },
  [tf.Tile]: {
    of: (dy: tf.Tensor, _, { reps }) => ({
      x: () =>
        (reps as number[]).reduce(
          (gradient, times, axis) => (times === 1 ? gradient : tf.addN(tf.split(gradient, times, axis))),
          tf.clone(dy),
        ),
    }),
  },
};
