/**
 * Keys and values of the tokens of live contexts.
 *
 * Legend: S slots · B rows · C new columns · L cached columns · K key/value heads · T longest context · D head width.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { TransformerConfig } from '../model/transformer-config.js';

/** Where the new keys and values of a pass go. */
export interface CacheDestinations {
  /** [B] */
  readonly slots: Int32Array;
  /** [B] position of the first new column. */
  readonly starts: Int32Array;
  /** [B] new columns that are not padding. */
  readonly lengths: Int32Array;
  /** C */
  readonly numColumns: number;
}

/**
 * One preallocated tensor a layer, [S + 1, 2K, T, D] with the keys' heads before the values'. The last slot takes
 * what padded columns write. Allocated at the first write.
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

  /** Cache rows [B·2K·C, 1] of the cells of a pass, for `write`; the caller's tidy frees them. */
  destinations({ slots, starts, lengths, numColumns }: CacheDestinations): tf.Tensor {
    const rows = new Int32Array(slots.length * this.numHeads * numColumns);
    let cell = 0;
    for (let b = 0; b < slots.length; b++) {
      for (let head = 0; head < this.numHeads; head++) {
        for (let column = 0; column < numColumns; column++) {
          const isPadding = column >= lengths[b];
          const slot = isPadding ? this.numSlots : slots[b];
          const position = isPadding ? 0 : starts[b] + column;
          rows[cell++] = (slot * this.numHeads + head) * this.maxTokens + position;
        }
      }
    }
    return tf.tensor2d(rows, [rows.length, 1], 'int32');
  }

  /** Stores keysValues [B, 2K, C, D] of a layer. */
  write(layer: number, destinations: tf.Tensor, keysValues_BKCD: tf.Tensor): void {
    const { headDim } = this.config;
    const flat = tf.reshape(this.layer(layer), [-1, headDim]);
    const updated = tf.tensorScatterUpdate(flat, destinations, tf.reshape(keysValues_BKCD, [-1, headDim]));
    this.layers[layer].dispose();
    this.layers[layer] = tf.keep(tf.reshape(updated, this.layerShape));
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

  dispose(): void {
    tf.dispose(this.layers);
    this.layers = [];
  }

  private get layerShape(): [number, number, number, number] {
    return [this.numSlots + 1, this.numHeads, this.maxTokens, this.config.headDim];
  }

  private layer(layer: number): tf.Tensor {
    if (this.layers.length === 0) {
      this.layers = Array.from({ length: this.config.numLayers }, () => tf.keep(tf.zeros(this.layerShape)));
    }
    return this.layers[layer];
  }
}
