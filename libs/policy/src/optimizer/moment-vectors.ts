import * as tf from '@tensorflow/tfjs-core';
import { bucketSize } from './buckets.js';
import type { Bucket } from './buckets.js';

/** One moment of every parameter, on the device: one vector for each bucket, initially 0. */
export class MomentVectors {
  private readonly vectors: tf.Tensor[];

  constructor(buckets: readonly Bucket[]) {
    this.vectors = buckets.map((bucket) => tf.keep(tf.zeros([bucketSize(bucket)])));
  }

  read(bucket: number): tf.Tensor {
    return this.vectors[bucket];
  }

  /** Takes ownership of the tensor. */
  write(bucket: number, tensor: tf.Tensor): void {
    this.vectors[bucket].dispose();
    this.vectors[bucket] = tensor;
  }

  /** The moments in host memory, which the caller must not change. */
  async data(bucket: number): Promise<Float32Array> {
    return (await this.vectors[bucket].data()) as Float32Array;
  }

  /** Takes ownership of the numbers. */
  assign(bucket: number, data: Float32Array): void {
    this.write(bucket, tf.keep(tf.tensor1d(data)));
  }

  dispose(): void {
    tf.dispose(this.vectors);
  }
}
