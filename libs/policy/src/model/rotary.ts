import * as tf from '@tensorflow/tfjs-core';
import { matMul } from '../ops/mat-mul.js';
import type { TransformerConfig } from './transformer-config.js';

/**
 * Cosines and sines, [positions, W], for joined projections of width W = (numHeads + 2·numKeyValueHeads)·headDim.
 * Value columns have cosine 1 and sine 0, so that one product turns queries and keys and leaves values alone;
 * query columns are scaled by 1/√headDim, so that scores need no scaling of their own.
 */
export interface RotaryAngles {
  readonly cos: tf.Tensor;
  readonly sin: tf.Tensor;
}

/** Rotary position tables of a model, made when first needed and grown by doubling. */
export class RotaryTables {
  private capacity = 0;
  private table: RotaryAngles | null = null;
  private readonly turn: tf.Tensor;

  constructor(private readonly config: TransformerConfig) {
    this.turn = tf.keep(quarterTurn(config.headDim));
  }

  /** Angles of the positions 0 … length − 1. */
  upTo(length: number): RotaryAngles {
    const { cos, sin } = this.atLeast(length);
    const width = cos.size / this.capacity;
    return { cos: tf.slice(cos, [0, 0], [length, width]), sin: tf.slice(sin, [0, 0], [length, width]) };
  }

  /** Angles of the given positions; `length` is above all of them. */
  at(positions: tf.Tensor, length: number): RotaryAngles {
    const { cos, sin } = this.atLeast(length);
    return { cos: tf.gather(cos, positions), sin: tf.gather(sin, positions) };
  }

  /** Turns x [rows·P, W] by the angles [P, W] of its positions. */
  rotate(x_RW: tf.Tensor, { cos, sin }: RotaryAngles): tf.Tensor {
    const turned = this.quarterTurned(x_RW, false);
    return tf.add(multiplyRows(x_RW, cos), multiplyRows(turned, sin));
  }

  /** The transpose of `rotate`: takes the gradient of its result to the gradient of x. */
  rotateBack(dy_RW: tf.Tensor, { cos, sin }: RotaryAngles): tf.Tensor {
    return tf.add(multiplyRows(dy_RW, cos), this.quarterTurned(multiplyRows(dy_RW, sin), true));
  }

  dispose(): void {
    this.table?.cos.dispose();
    this.table?.sin.dispose();
    this.turn.dispose();
  }

  /** x·R per head: (x₁, x₂) → (−x₂, x₁) over the halves of a head, exact because R has one ±1 a column. */
  private quarterTurned(x_RW: tf.Tensor, transposed: boolean): tf.Tensor {
    const heads = tf.reshape(x_RW, [-1, this.config.headDim]);
    return tf.reshape(matMul(heads, this.turn, { transposeB: transposed }), x_RW.shape);
  }

  private atLeast(length: number): RotaryAngles {
    if (this.table !== null && length <= this.capacity) return this.table;
    this.capacity = Math.min(this.config.maxPositions, Math.max(length, 2 * this.capacity, 64));
    this.table?.cos.dispose();
    this.table?.sin.dispose();
    const { cos, sin } = tabulate(this.config, this.capacity);
    this.table = { cos: tf.keep(cos), sin: tf.keep(sin) };
    return this.table;
  }
}

/** x [rows·P, W] ⊙ factors [P, W], the factors repeated for every row; flattened, which broadcasts fastest. */
function multiplyRows(x_RW: tf.Tensor, factors_PW: tf.Tensor): tf.Tensor {
  const product = tf.mul(
    tf.reshape(x_RW, [-1, factors_PW.size]),
    tf.reshape(factors_PW, [1, factors_PW.size]),
  );
  return tf.reshape(product, x_RW.shape);
}

function quarterTurn(headDim: number): tf.Tensor {
  const half = headDim / 2;
  const turn = new Float32Array(headDim * headDim);
  for (let i = 0; i < half; i++) {
    turn[(i + half) * headDim + i] = -1;
    turn[i * headDim + i + half] = 1;
  }
  return tf.tensor2d(turn, [headDim, headDim]);
}

/** Angle of pair i at position p: p·θ^(−2i/headDim) (arXiv:2104.09864, halves instead of neighbours, as Hugging Face has it). */
function tabulate(config: TransformerConfig, length: number): RotaryAngles {
  const { numHeads, numKeyValueHeads, headDim } = config;
  const half = headDim / 2;
  const width = (numHeads + 2 * numKeyValueHeads) * headDim;
  const cos = new Float32Array(length * width).fill(1);
  const sin = new Float32Array(length * width);
  const queryScale = 1 / Math.sqrt(headDim);
  for (let pair = 0; pair < half; pair++) {
    const frequency = config.ropeTheta ** (-pair / half);
    for (let position = 0; position < length; position++) {
      const c = Math.cos(position * frequency);
      const s = Math.sin(position * frequency);
      for (let head = 0; head < numHeads + numKeyValueHeads; head++) {
        const scale = head < numHeads ? queryScale : 1;
        const column = position * width + head * headDim + pair;
        cos[column] = cos[column + half] = scale * c;
        sin[column] = sin[column + half] = scale * s;
      }
    }
  }
  return { cos: tf.tensor2d(cos, [length, width]), sin: tf.tensor2d(sin, [length, width]) };
}
