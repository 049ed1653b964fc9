import * as tf from '../tensorflow.js';

/** A kernel's inputs that its gradient needs, by name (`all`: a list of them), and the gradient of each input. */
interface Gradient {
  readonly inputs?: readonly string[] | 'all';
  /** `dy` is the gradient of the kernel's output, or a list where it has several; results are computed on demand. */
  of(
    dy: tf.Tensor | tf.Tensor[],
    saved: tf.Tensor[],
    attributes: Readonly<Record<string, unknown>>,
  ): Record<string, () => tf.Tensor> | (() => tf.Tensor)[];
}

/**
 * Gradients of the kernels that the model leaves on the gradient tape; its other ops bring their own (`withGradient`).
 * tfjs-core's Node bundle registers none, and the union package with those of all kernels takes 240 MB.
 */
export const GRADIENTS: Readonly<Record<string, Gradient>> = {
  [tf.Add]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({ a: () => sumTo(a, dy), b: () => sumTo(b, dy) }),
  },
  [tf.Multiply]: {
    inputs: ['a', 'b'],
    of: (dy: tf.Tensor, [a, b]) => ({ a: () => sumTo(a, tf.mul(dy, b)), b: () => sumTo(b, tf.mul(dy, a)) }),
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
  [tf.Reshape]: {
    inputs: ['x'],
    of: (dy: tf.Tensor, [x]) => ({ x: () => tf.reshape(dy, x.shape) }),
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
  [tf.Tile]: {
    of: (dy: tf.Tensor, _, { reps }) => ({
      x: () =>
        (reps as number[]).reduce(
          (gradient, times, axis) => (times === 1 ? gradient : tf.addN(tf.split(gradient, times, axis))),
          tf.clone(dy),
        ),
    }),
  },
  [tf.GatherV2]: {
    inputs: ['x', 'indices'],
    of: (dy: tf.Tensor, [x, indices], { axis, batchDims }) => ({
      x: () => {
        if (axis !== 0 || batchDims !== 0) throw new Error('tf.gather has a gradient along axis 0 only');
        const rows = tf.reshape(dy, [indices.size, ...x.shape.slice(1)]);
        return tf.unsortedSegmentSum(rows, tf.reshape(indices, [-1]) as tf.Tensor1D, x.shape[0]);
      },
    }),
  },
};

/** Registers `GRADIENTS` for every backend. */
export function registerGradients(): void {
  for (const [kernelName, { inputs, of }] of Object.entries(GRADIENTS)) {
    tf.registerGradient({
      kernelName,
      ...(inputs === 'all' ? { saveAllInputs: true } : { inputsToSave: [...(inputs ?? [])] }),
      gradFunc: (dy, saved, attributes) => of(dy, saved, attributes) as Record<string, () => tf.Tensor>,
    });
  }
}

/** Sums a gradient over the axes along which `operand` was broadcast. */
function sumTo(operand: tf.Tensor, gradient: tf.Tensor): tf.Tensor {
  const axes = tf.broadcast_util.getReductionAxes(operand.shape, gradient.shape);
  return tf.reshape(axes.length > 0 ? tf.sum(gradient, axes) : gradient, operand.shape);
}
