import * as tf from '@tensorflow/tfjs-core';
import { type Gradient, type Gradients, mask } from './gradient.js';

/** Gradients of kernels that combine elements: along axes, of rows with columns, and by segment. */
export const REDUCTION_GRADIENTS: Gradients = {
  [tf.Sum]: {
    inputs: ['x'],
    of: (dy: tf.Tensor, [x], { axis }) => ({ x: () => spread(dy, x, axis) }),
  },
  [tf.Mean]: {
    inputs: ['x'],
    of: (dy: tf.Tensor, [x], { axis }) => ({
      x: () => tf.div(spread(dy, x, axis), x.size / Math.max(dy.size, 1)),
    }),
  },
  [tf.Max]: ofExtreme('reductionIndices'),
  [tf.Min]: ofExtreme('axis'),
  // Reversing the order in which elements are added turns "all before me" into "all after me".
  [tf.Cumsum]: {
    of: (dy: tf.Tensor, _, { axis, exclusive, reverse }) => ({
      x: () => tf.cumsum(dy, axis as number, exclusive as boolean, reverse !== true),
    }),
  },
  // y ⊙ dy − y Σ(y ⊙ dy)
  [tf.Softmax]: {
    output: true,
    of: (dy: tf.Tensor, [y], { dim }) => ({
      logits: () => {
        const product = tf.mul(dy, y);
        return tf.sub(product, tf.mul(tf.sum(product, dim as number, true), y));
      },
    }),
  },
  [tf.LogSoftmax]: {
    output: true,
    of: (dy: tf.Tensor, [y], { axis }) => ({
      logits: () => tf.sub(dy, tf.mul(tf.sum(dy, axis as number, true), tf.exp(y))),
    }),
  },
  [tf.BatchMatMul]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b], { transposeA, transposeB }) => {
      const [flipsA, flipsB] = [transposeA === true, transposeB === true];
      return {
        a: () => (flipsA ? tf.matMul(b, dy, flipsB, true) : tf.matMul(dy, b, false, !flipsB)),
        b: () => (flipsB ? tf.matMul(dy, a, true, flipsA) : tf.matMul(a, dy, !flipsA, false)),
      };
    },
  },
  [tf.GatherV2]: {
    inputs: ['x', 'indices'],
    of: (dy: tf.Tensor, [x, indices], { axis, batchDims }) => ({
      x: () => {
        if (batchDims !== 0) throw new Error(`tf.gather with batchDims ${batchDims} has no gradient`);
        const [along] = tf.util.parseAxisParam(axis as number, x.shape);
        return scatter(dy, indices, along, x.shape);
      },
    }),
  },
  // Elements of a negative segment were left out of every sum.
  [tf.UnsortedSegmentSum]: {
    inputs: ['segmentIds'],
    of: (dy: tf.Tensor, [segmentIds]) => ({
      x: () => {
        const rows = tf.gather(dy, tf.maximum(segmentIds, tf.zerosLike(segmentIds)) as tf.Tensor1D);
        const isInSegment = tf.greaterEqual(segmentIds, tf.scalar(0, 'int32'));
        const column = tf.reshape(isInSegment, [...isInSegment.shape, ...dy.shape.slice(1).map(() => 1)]);
        return tf.where(tf.logicalAnd(column, tf.ones(rows.shape, 'bool')), rows, tf.zerosLike(rows));
      },
    }),
  },
};

/** Every element that shares the extreme gets the whole gradient. */
function ofExtreme(attribute: 'reductionIndices' | 'axis'): Gradient {
  return {
    inputs: ['x'],
    output: true,
    of: (dy: tf.Tensor, [x, y], attributes) => ({
      x: () => {
        const shape = keptShape(x, attributes[attribute]);
        return tf.mul(tf.reshape(dy, shape), mask(tf.equal(x, tf.reshape(y, shape))));
      },
    }),
  };
}

/** Repeats the gradient of a reduction over the axes that were reduced. */
function spread(dy: tf.Tensor, x: tf.Tensor, axis: unknown): tf.Tensor {
  return tf.mul(tf.reshape(dy, keptShape(x, axis)), tf.ones(x.shape, 'float32'));
}

/** The shape of `x` with a length of 1 along the reduced axes. */
function keptShape(x: tf.Tensor, axis: unknown): number[] {
  const reduced = tf.util.parseAxisParam(axis as number[], x.shape);
  return x.shape.map((length, index) => (reduced.includes(index) ? 1 : length));
}

/** Adds slices of `dy` along an axis into zeros of `shape`, at the indices that they were gathered from. */
function scatter(dy: tf.Tensor, indices: tf.Tensor, along: number, shape: readonly number[]): tf.Tensor {
  const [before, after] = [shape.slice(0, along), shape.slice(along + 1)];
  const values = tf.reshape(dy, [...before, indices.size, ...after]);
  const ids = tf.reshape(indices, [indices.size]) as tf.Tensor1D;
  if (along === 0) return tf.unsortedSegmentSum(values, ids, shape[along]);
  const axes = shape.map((_, axis) => axis);
  const toFront = [along, ...axes.filter((axis) => axis !== along)];
  const sums = tf.unsortedSegmentSum(tf.transpose(values, toFront), ids, shape[along]);
  return tf.transpose(sums, tf.backend_util.getUndoAxesPermutation(toFront));
}
