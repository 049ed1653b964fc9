import * as tf from '@tensorflow/tfjs-core';
import { numElements } from '../model/parameter-spec.js';
import type { Bucket } from './buckets.js';

/** One moment of every parameter, on the device, a vector a bucket; zeros at first. */
export class MomentVectors {
  private readonly vectors: tf.Tensor[];

  constructor(buckets: readonly Bucket[]) {
    const sizes = buckets.map(({ specs }) => specs.reduce((sum, { shape }) => sum + numElements(shape), 0));
    this.vectors = sizes.map((size) => tf.keep(tf.zeros([size])));
  }

  read(bucket: number): tf.Tensor {
    return this.vectors[bucket];
  }

  /** Takes ownership of the tensor. */
  write(bucket: number, tensor: tf.Tensor): void {
    this.vectors[bucket].dispose();
    this.vectors[bucket] = tensor;
  }

  /** As numbers, not to be changed. */
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
