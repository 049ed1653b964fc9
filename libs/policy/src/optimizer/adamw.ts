import * as tf from '@tensorflow/tfjs-core';
import type { NamedTensors } from '../model/named-tensors.js';
import { numElements } from '../model/parameter-spec.js';
import type { ParameterSet } from '../model/parameter-set.js';
import { PolicyError } from '../policy-error.js';
import { adamWStep } from '../ops/adamw-step.js';
import { exportVectors, flatten, importVectors, unflatten } from './buckets.js';
import type { Bucket } from './buckets.js';

export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled; applies to matrices, not to norms and biases. */
  readonly weightDecay: number;
}

/** All that a later process needs to go on with the same steps. */
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
  private firstMoments: tf.Tensor[];
  private secondMoments: tf.Tensor[];

  constructor(
    private readonly buckets: readonly Bucket[],
    private readonly options: AdamWOptions,
  ) {
    validateAdamWOptions(options);
    this.firstMoments = buckets.map(zeros);
    this.secondMoments = buckets.map(zeros);
  }

  /** Replaces every parameter; `gradients` has one vector per bucket. */
  step(parameters: ParameterSet, gradients: readonly tf.Tensor[], options: AdamWStep): void {
    this.numSteps++;
    this.buckets.forEach((bucket, b) => {
      tf.tidy(() => {
        this.stepBucket(bucket, b, parameters, gradients[b], options);
      });
    });
  }

  async exportState(): Promise<AdamWState> {
    return {
      step: this.numSteps,
      firstMoments: await exportVectors(this.buckets, this.firstMoments),
      secondMoments: await exportVectors(this.buckets, this.secondMoments),
    };
  }

  /** Throws `PolicyError` (`TENSOR_MISMATCH`), with the state as it was, when a moment is missing or misshapen. */
  importState(state: AdamWState): void {
    const firstMoments = importVectors(this.buckets, state.firstMoments);
    const secondMoments = importVectors(this.buckets, state.secondMoments);
    this.dispose();
    this.firstMoments = firstMoments;
    this.secondMoments = secondMoments;
    this.numSteps = state.step;
  }

  dispose(): void {
    tf.dispose([this.firstMoments, this.secondMoments]);
  }

  private stepBucket(
    bucket: Bucket,
    b: number,
    parameters: ParameterSet,
    gradient: tf.Tensor,
    { learningRate, gradientScale }: AdamWStep,
  ): void {
    const tensors = {
      weight: flatten(bucket, (key) => parameters.get(key)),
      first: this.firstMoments[b],
      second: this.secondMoments[b],
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
    this.firstMoments[b].dispose();
    this.secondMoments[b].dispose();
    this.firstMoments[b] = tf.keep(first);
    this.secondMoments[b] = tf.keep(second);
  }
}

function zeros({ specs }: Bucket): tf.Tensor {
  return tf.keep(tf.zeros([specs.reduce((sum, { shape }) => sum + numElements(shape), 0)]));
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
