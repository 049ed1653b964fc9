/**
 * Keys and values of the tokens of live contexts.
 *
 * Legend: S slots · N new tokens · B rows · L cached columns · K key/value heads · T longest context · D head width.
 */
import * as tf from '@retrace/compute/tensorflow';
import type { TransformerConfig } from '../model/transformer-config.js';
import { hasNativeOps, nativeOp } from '@retrace/compute';

/** A beginning that the contexts of two slots share, copied from one to the other. */
export interface PrefixCopy {
  readonly from: number;
  readonly to: number;
  readonly numTokens: number;
}

/**
 * Holds one tensor for each layer, [S, 2K, T, D] with the keys' heads before the values', allocated when first needed.
 * The fused ops write into it in place, so nothing else may keep a reference to it.
 */
export class KeyValueCache {
  private layers: tf.Tensor[] = [];
  private readonly numHeads: number;

  constructor(
    private readonly config: TransformerConfig,
    private readonly numSlots: number,
    private readonly maxTokens: number,
  ) {
    this.numHeads = 2 * config.numKeyValueHeads;
  }

  /** The tensor of a layer, for the fused ops. */
  layer(layer: number): tf.Tensor {
    if (this.layers.length === 0) {
      const { numLayers, headDim } = this.config;
      const shape = [this.numSlots, this.numHeads, this.maxTokens, headDim];
      this.layers = Array.from({ length: numLayers }, () => tf.keep(tf.fill(shape, 0)));
    }
    return this.layers[layer];
  }

  /** Stores keysValues [N, 2K, D] of a layer at the slot and position of each token. */
  write(layer: number, slots: Int32Array, positions: Int32Array, keysValues_NKD: tf.Tensor): void {
    const rows = new Int32Array(slots.length * this.numHeads);
    slots.forEach((slot, token) => {
      for (let head = 0; head < this.numHeads; head++)
        rows[token * this.numHeads + head] = this.rowOf(slot, head) + positions[token];
    });
    this.scatter(layer, rows, tf.reshape(keysValues_NKD, [-1, this.config.headDim]));
  }

  /** The first L columns of some slots: keys and values, each [B, K, L, D]. */
  read(layer: number, slots: Int32Array, numColumns: number): [tf.Tensor, tf.Tensor] {
    const { headDim, numKeyValueHeads } = this.config;
    const cache = this.layer(layer);
    const isContiguous = slots.every((slot, row) => slot === slots[0] + row);
    const size: [number, number, number, number] = [slots.length, numKeyValueHeads, numColumns, headDim];
    const [source, firstSlot] = isContiguous
      ? [cache, slots[0]]
      : [tf.gather(cache, tf.tensor1d(slots, 'int32')), 0];
    return [
      tf.slice(source, [firstSlot, 0, 0, 0], size),
      tf.slice(source, [firstSlot, numKeyValueHeads, 0, 0], size),
    ];
  }

  /** Copies beginnings of contexts from slot to slot, one after the other. */
  copyPrefixes(copies: readonly PrefixCopy[]): void {
    if (copies.length === 0) return;
    tf.tidy(() => {
      for (let layer = 0; layer < this.config.numLayers; layer++) {
        if (hasNativeOps()) {
          const flat = Int32Array.from(copies.flatMap(({ from, to, numTokens }) => [from, to, numTokens]));
          nativeOp('RetraceCopyCached', [this.layer(layer), tf.tensor1d(flat, 'int32')]);
        } else {
          for (const copy of copies) this.copyPrefix(layer, copy);
        }
      }
    });
  }

  dispose(): void {
    tf.dispose(this.layers);
    this.layers = [];
  }

  private copyPrefix(layer: number, { from, to, numTokens }: PrefixCopy): void {
    const { headDim } = this.config;
    const prefix = tf.slice(this.layer(layer), [from, 0, 0, 0], [1, this.numHeads, numTokens, headDim]);
    const rows = Int32Array.from(
      { length: this.numHeads * numTokens },
      (_, i) => this.rowOf(to, Math.floor(i / numTokens)) + (i % numTokens),
    );
    this.scatter(layer, rows, tf.reshape(prefix, [-1, headDim]));
  }

  /** The row of a head's first token in a layer taken as a matrix of width D. */
  private rowOf(slot: number, head: number): number {
    return (slot * this.numHeads + head) * this.maxTokens;
  }

  private scatter(layer: number, rows: Int32Array, values: tf.Tensor): void {
    const former = this.layer(layer);
    const flat = tf.reshape(former, [-1, this.config.headDim]);
    const updated = tf.tensorScatterUpdate(flat, tf.tensor2d(rows, [rows.length, 1], 'int32'), values);
    this.layers[layer] = tf.keep(tf.reshape(updated, former.shape));
    former.dispose();
  }
}
