import * as tf from '@tensorflow/tfjs-core';
import { numElements } from '../model/parameter-spec.js';
import type { Bucket } from './buckets.js';

/** Where an optimizer's moments lie between steps: where the weights are, or in this process's own memory. */
export type StatePlace = 'device' | 'host';

/** One moment of every parameter, a vector a bucket; zeros at first. */
export class MomentVectors {
  private readonly vectors: (tf.Tensor | Float32Array)[];

  constructor(
    buckets: readonly Bucket[],
    private readonly place: StatePlace,
  ) {
    const sizes = buckets.map(({ specs }) => specs.reduce((sum, { shape }) => sum + numElements(shape), 0));
    this.vectors = sizes.map((size) =>
      place === 'host' ? new Float32Array(size) : tf.keep(tf.zeros([size])),
    );
  }

  /** On the device; one that was brought there is freed by the caller's tidy. */
  read(bucket: number): tf.Tensor {
    const vector = this.vectors[bucket];
    return vector instanceof Float32Array ? tf.tensor1d(vector) : vector;
  }

  /** Takes ownership of the tensor. */
  async write(bucket: number, tensor: tf.Tensor): Promise<void> {
    if (this.place === 'device') {
      this.replace(bucket, tensor);
      return;
    }
    // What `data` gives may be the backend's own memory.
    const data = Float32Array.from(await tensor.data());
    tensor.dispose();
    this.replace(bucket, data);
  }

  /** As numbers, not to be changed. */
  async data(bucket: number): Promise<Float32Array> {
    const vector = this.vectors[bucket];
    return vector instanceof Float32Array ? vector : ((await vector.data()) as Float32Array);
  }

  /** Takes ownership of the numbers. */
  assign(bucket: number, data: Float32Array): void {
    this.replace(bucket, this.place === 'host' ? data : tf.keep(tf.tensor1d(data)));
  }

  dispose(): void {
    for (const vector of this.vectors) if (!(vector instanceof Float32Array)) vector.dispose();
  }

  private replace(bucket: number, vector: tf.Tensor | Float32Array): void {
    const before = this.vectors[bucket];
    if (!(before instanceof Float32Array)) before.dispose();
    this.vectors[bucket] = vector;
  }
}
