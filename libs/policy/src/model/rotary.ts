import * as tf from '@retrace/compute/tensorflow';
import { rotatePairs } from '@retrace/compute';
import { rotaryFrequencies } from './rope-scaling.js';
import type { TransformerConfig } from './transformer-config.js';

/**
 * Rotary positions (arXiv:2104.09864) for joined projections of width W = (numHeads + 2·numKeyValueHeads)·headDim.
 *
 * A table [positions, W] of factors: cosine and sine of the angle p·frequency(i) side by side for pair i of a head
 * (`rotaryFrequencies`).
 * The factors of queries are scaled by 1/√headDim, so scores need no further scaling; those of values are 1,
 * so one product turns queries and keys and does not change values. Pairs are neighbouring columns
 * (`join-parameter.ts` orders the rows of the weights accordingly). Made when first needed, and grown by doubling.
 */
export class RotaryTable {
  private table: tf.Tensor | null = null;
  private length = 0;
  private readonly width: number;

  constructor(private readonly config: TransformerConfig) {
    this.width = (config.numHeads + 2 * config.numKeyValueHeads) * config.headDim;
  }

  /** Factors of the positions 0 … length − 1: [length, W]. */
  upTo(length: number): tf.Tensor {
    return tf.slice(this.atLeast(length), [0, 0], [length, this.width]);
  }

  /** Factors of positions [P], all below `length`: [P, W]. */
  at(positions: tf.Tensor, length: number): tf.Tensor {
    return tf.gather(this.atLeast(length), positions);
  }

  dispose(): void {
    this.table?.dispose();
    this.table = null;
  }

  private atLeast(length: number): tf.Tensor {
    if (this.table !== null && length <= this.length) return this.table;
    this.dispose();
    this.length = Math.min(this.config.maxPositions, Math.max(length, 2 * this.length, 64));
    this.table = tf.keep(
      tf.tensor2d(tabulate(this.config, this.length, this.width), [this.length, this.width]),
    );
    return this.table;
  }
}

/** Rotates x [rows·P, W] by the factors [P, W] of its positions. */
export function rotate(x_NW: tf.Tensor, factors_PW: tf.Tensor): tf.Tensor {
  return rotatePairs(x_NW, factors_PW, false);
}

/** The transpose of `rotate`: maps the gradient of its result to the gradient of x. */
export function rotateBack(dy_NW: tf.Tensor, factors_PW: tf.Tensor): tf.Tensor {
  return rotatePairs(dy_NW, factors_PW, true);
}

function tabulate(config: TransformerConfig, length: number, width: number): Float32Array {
  const { numHeads, numKeyValueHeads, headDim } = config;
  const table = Float32Array.from({ length: length * width }, (_, i) => (i % 2 === 0 ? 1 : 0));
  const { frequencies, scale: keyScale } = rotaryFrequencies(config);
  const queryScale = keyScale / Math.sqrt(headDim);
  for (let pair = 0; pair < headDim / 2; pair++) {
    const frequency = frequencies[pair];
    for (let position = 0; position < length; position++) {
      const cos = Math.cos(position * frequency);
      const sin = Math.sin(position * frequency);
      for (let head = 0; head < numHeads + numKeyValueHeads; head++) {
        const scale = head < numHeads ? queryScale : keyScale;
        const column = position * width + head * headDim + 2 * pair;
        table[column] = scale * cos;
        table[column + 1] = scale * sin;
      }
    }
  }
  return table;
}
