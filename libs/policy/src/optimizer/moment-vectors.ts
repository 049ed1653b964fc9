import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@retrace/compute/tensorflow';
import { PolicyError } from '../policy-error.js';
import { bucketSize } from './buckets.js';
import type { Bucket } from './buckets.js';

/**
 * Where moments are between steps: on the device, in the process's memory, or in a file of the system's directory for temporary files. A step
 * has those of one bucket on the device, and gives the same bits.
 */
export type MomentPlace = 'device' | 'host' | 'disk';

/**
 * One moment of every parameter: one vector for each bucket, initially 0. Duties of an implementer: `read` gives the vector inside of a
 * `tf.tidy` of the caller; `write` takes ownership of its tensor, `assign` of its numbers; `data` must not be changed by the caller.
 */
export interface MomentVectors {
  read(bucket: number): tf.Tensor;
  write(bucket: number, tensor: tf.Tensor): Promise<void>;
  /** In host memory. */
  data(bucket: number): Promise<Float32Array>;
  assign(bucket: number, data: Float32Array): void;
  dispose(): void;
}

/** @throws PolicyError `CHECKPOINT_NOT_WRITTEN`, retriable, where the disk has no room for them */
export function momentVectors(buckets: readonly Bucket[], place: MomentPlace): MomentVectors {
  const sizes = buckets.map(bucketSize);
  if (place === 'device') return new DeviceMoments(sizes);
  return new OffloadedMoments(place === 'host' ? hostNumbers(sizes) : fileNumbers(sizes));
}

class DeviceMoments implements MomentVectors {
  private readonly vectors: tf.Tensor[];

  constructor(sizes: readonly number[]) {
    this.vectors = sizes.map((size) => tf.keep(tf.zeros([size])));
  }

  read(bucket: number): tf.Tensor {
    return this.vectors[bucket];
  }

  write(bucket: number, tensor: tf.Tensor): Promise<void> {
    this.vectors[bucket].dispose();
    this.vectors[bucket] = tensor;
    return Promise.resolve();
  }

  async data(bucket: number): Promise<Float32Array> {
    return (await this.vectors[bucket].data()) as Float32Array;
  }

  assign(bucket: number, data: Float32Array): void {
    this.vectors[bucket].dispose();
    this.vectors[bucket] = tf.keep(tf.tensor1d(data));
  }

  dispose(): void {
    tf.dispose(this.vectors);
  }
}

/** Vectors of numbers outside of the device. */
interface StoredNumbers {
  get(bucket: number): Float32Array;
  /** Takes ownership of the numbers. */
  set(bucket: number, data: Float32Array): void;
  dispose(): void;
}

class OffloadedMoments implements MomentVectors {
  constructor(private readonly numbers: StoredNumbers) {}

  read(bucket: number): tf.Tensor {
    return tf.tensor1d(this.numbers.get(bucket));
  }

  async write(bucket: number, tensor: tf.Tensor): Promise<void> {
    this.numbers.set(bucket, (await tensor.data()) as Float32Array);
    tensor.dispose();
  }

  data(bucket: number): Promise<Float32Array> {
    return Promise.resolve(this.numbers.get(bucket));
  }

  assign(bucket: number, data: Float32Array): void {
    this.numbers.set(bucket, data);
  }

  dispose(): void {
    this.numbers.dispose();
  }
}

function hostNumbers(sizes: readonly number[]): StoredNumbers {
  const vectors: Float32Array[] = sizes.map((size) => new Float32Array(size));
  return {
    get: (bucket) => vectors[bucket],
    set: (bucket, data) => {
      vectors[bucket] = data;
    },
    dispose: () => undefined,
  };
}

/** Vectors one after the other in a file that only this process sees, and that is gone with it. */
function fileNumbers(sizes: readonly number[]): StoredNumbers {
  const { BYTES_PER_ELEMENT } = Float32Array;
  const starts = sizes.map(
    (_, b) => BYTES_PER_ELEMENT * sizes.slice(0, b).reduce((sum, size) => sum + size, 0),
  );
  const directory = mkdtempSync(join(tmpdir(), 'retrace-moments-'));
  const file = openSync(join(directory, 'moments'), 'wx+', 0o600);
  rmSync(directory, { recursive: true });
  const set: StoredNumbers['set'] = (bucket, data) => {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    let written = 0;
    while (written < bytes.length)
      written += writeSync(file, bytes, written, bytes.length - written, starts[bucket] + written);
  };
  try {
    // Zeros are written, not only promised: a disk that is too small refuses now, and not in the middle of a step.
    for (const [bucket, size] of sizes.entries()) set(bucket, new Float32Array(size));
  } catch (cause) {
    closeSync(file);
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const what = `the optimizer's moments do not fit into ${tmpdir()} (${reason})`;
    throw new PolicyError(
      'CHECKPOINT_NOT_WRITTEN',
      `${what}; free disk space, or set TMPDIR to another disk`,
      {
        cause,
        retriable: true,
      },
    );
  }
  return {
    get: (bucket) => {
      const bytes = new Uint8Array(BYTES_PER_ELEMENT * sizes[bucket]);
      let length = 0;
      while (length < bytes.length)
        length += readSync(file, bytes, length, bytes.length - length, starts[bucket] + length);
      return new Float32Array(bytes.buffer);
    },
    set,
    dispose: () => {
      closeSync(file);
    },
  };
}
