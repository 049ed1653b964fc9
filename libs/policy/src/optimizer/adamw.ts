import * as tf from '@tensorflow/tfjs-core';
import { bytesOf } from '../checkpoints/element-types.js';
import { encodeSafetensorsHeader } from '../checkpoints/safetensors-header.js';
import { readParameter, requireParameters, tensorEntries } from '../checkpoints/tensor-source.js';
import type { TensorSource } from '../checkpoints/tensor-source.js';
import { splitParameter } from '../model/join-parameter.js';
import type { NamedTensors } from '../model/named-tensors.js';
import { numElements } from '../model/parameter-spec.js';
import type { ParameterSet } from '../model/parameter-set.js';
import { PolicyError } from '../policy-error.js';
import { adamWStep } from '@retrace/compute';
import { exportVectors, flatten, unflatten } from './buckets.js';
import type { Bucket } from './buckets.js';
import { MomentVectors } from './moment-vectors.js';

export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled; applies to matrices, not to norms and biases. */
  readonly weightDecay: number;
}

/** Before the names of the parameters that the moments belong to, in a file. */
const PREFIXES = { firstMoments: 'first_moment.', secondMoments: 'second_moment.' } as const;

/** A copy in host memory of all that a later process needs to go on with the same steps. */
export interface AdamWState {
  readonly step: number;
  readonly firstMoments: NamedTensors;
  readonly secondMoments: NamedTensors;
}

export interface AdamWStep {
  readonly learningRate: number;
  /** Factor on every gradient (clipping). */
  readonly gradientScale: number;
}

/** AdamW (`adamWStep`) over all parameters of a model. */
export class AdamW {
  private numSteps = 0;
  private readonly firstMoments: MomentVectors;
  private readonly secondMoments: MomentVectors;

  constructor(
    private readonly buckets: readonly Bucket[],
    private readonly options: AdamWOptions,
  ) {
    validateAdamWOptions(options);
    this.firstMoments = new MomentVectors(buckets);
    this.secondMoments = new MomentVectors(buckets);
  }

  /** Replaces every parameter; `gradients` has one vector per bucket. */
  step(parameters: ParameterSet, gradients: readonly tf.Tensor[], options: AdamWStep): void {
    this.numSteps++;
    for (const [b, bucket] of this.buckets.entries()) {
      const { first, second } = tf.tidy(() => this.stepBucket(bucket, b, parameters, gradients[b], options));
      this.firstMoments.write(b, first);
      this.secondMoments.write(b, second);
    }
  }

  async exportState(): Promise<AdamWState> {
    return {
      step: this.numSteps,
      firstMoments: await exportVectors(this.buckets, (b) => this.firstMoments.data(b)),
      secondMoments: await exportVectors(this.buckets, (b) => this.secondMoments.data(b)),
    };
  }

  /** The state as a safetensors file in pieces, for `CheckpointFiles.write`: one bucket's moments are held at a time. */
  async *content(): AsyncGenerator<Uint8Array> {
    const entries = Object.values(PREFIXES).flatMap((prefix) =>
      this.buckets.flatMap(({ specs }) => tensorEntries(specs, prefix)),
    );
    yield encodeSafetensorsHeader(entries, { step: String(this.numSteps) });
    for (const vectors of [this.firstMoments, this.secondMoments]) {
      for (const [b, { specs }] of this.buckets.entries()) {
        const data = await vectors.data(b);
        let offset = 0;
        for (const spec of specs) {
          const size = numElements(spec.shape);
          for (const [, part] of splitParameter(spec, data.subarray(offset, offset + size))) {
            yield bytesOf(part.data);
          }
          offset += size;
        }
      }
    }
  }

  /**
   * Goes to the state of a file that `content` wrote, a bucket at a time.
   *
   * @throws PolicyError `TENSOR_MISMATCH`, with the state as it was, when a moment is missing or misshapen
   */
  async load(source: TensorSource, step: number): Promise<void> {
    for (const prefix of Object.values(PREFIXES)) {
      for (const { specs } of this.buckets) requireParameters(source, specs, (name) => prefix + name);
    }
    for (const [key, prefix] of Object.entries(PREFIXES) as [keyof typeof PREFIXES, string][]) {
      for (const [b, { specs }] of this.buckets.entries()) {
        const vector = new Float32Array(specs.reduce((sum, { shape }) => sum + numElements(shape), 0));
        let offset = 0;
        for (const spec of specs) {
          vector.set(await readParameter(source, spec, (name) => prefix + name), offset);
          offset += numElements(spec.shape);
        }
        this[key].assign(b, vector);
      }
    }
    this.numSteps = step;
  }

  dispose(): void {
    this.firstMoments.dispose();
    this.secondMoments.dispose();
  }

  /** Replaces the parameters of a bucket; returns its new moments. */
  private stepBucket(
    bucket: Bucket,
    b: number,
    parameters: ParameterSet,
    gradient: tf.Tensor,
    { learningRate, gradientScale }: AdamWStep,
  ): { first: tf.Tensor; second: tf.Tensor } {
    const tensors = {
      weight: flatten(bucket, (key) => parameters.get(key)),
      first: this.firstMoments.read(b),
      second: this.secondMoments.read(b),
    };
    const { weight, first, second } = adamWStep(tensors, gradient, {
      ...this.options,
      weightDecay: bucket.decays ? this.options.weightDecay : 0,
      learningRate,
      gradientScale,
      step: this.numSteps,
    });
    unflatten(bucket, weight).forEach((part, i) => {
      parameters.replace(bucket.specs[i].key, part);
    });
    return { first, second };
  }
}

function validateAdamWOptions(options: AdamWOptions): void {
  for (const name of ['beta1', 'beta2'] as const) {
    if (!(options[name] >= 0 && options[name] < 1)) refuse(name, options[name], 'must be in [0, 1)');
  }
  if (!(options.epsilon > 0)) refuse('epsilon', options.epsilon, 'must be above 0');
  if (!(options.weightDecay >= 0)) refuse('weightDecay', options.weightDecay, 'must not be negative');
}

function refuse(name: keyof AdamWOptions, value: number, rule: string): never {
  throw new PolicyError('INVALID_CONFIG', `optimizer option ${name} is ${value}; it ${rule}`);
}
