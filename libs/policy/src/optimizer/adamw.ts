import * as tf from '@retrace/compute/tensorflow';
import { encodeParameters } from '../checkpoints/parameter-file.js';
import { readParameter, requireParameters } from '../checkpoints/tensor-source.js';
import type { TensorSource } from '../checkpoints/tensor-source.js';
import { numElements } from '../parameters/parameter-spec.js';
import type { ParameterSet } from '../model/parameter-set.js';
import { requireConfig } from '../require-config.js';
import { adamWStep } from '@retrace/compute';
import { bucketSize, flatten, unflatten } from './buckets.js';
import type { Bucket } from './buckets.js';
import { momentVectors } from './moment-vectors.js';
import type { MomentPlace, MomentVectors } from './moment-vectors.js';
import type { WeightAverage } from './weight-average.js';

export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled; applies to matrices, not to norms and biases. */
  readonly weightDecay: number;
}

/** In a file, the name of a moment is one of these before the name of its parameter. */
const PREFIXES = { firstMoments: 'first_moment.', secondMoments: 'second_moment.' } as const;

const MOMENTS = ['firstMoments', 'secondMoments'] as const;

export interface AdamWStep {
  readonly learningRate: number;
  /** Factor on every gradient (clipping). */
  readonly gradientScale: number;
}

/** AdamW (`adamWStep`) over all parameters of a model. */
export class AdamW {
  /** Steps of the policy and of a critic that is optimized apart: each has bias corrections of its own. */
  private readonly numSteps = { policy: 0, critic: 0 };
  private readonly firstMoments: MomentVectors;
  private readonly secondMoments: MomentVectors;

  constructor(
    private readonly buckets: readonly Bucket[],
    private readonly options: AdamWOptions,
    place: MomentPlace,
  ) {
    validateAdamWOptions(options);
    this.firstMoments = momentVectors(buckets, place);
    this.secondMoments = momentVectors(buckets, place);
  }

  /** Replaces the parameters of each bucket that has options; `gradients` has one vector per bucket. */
  async step(
    parameters: ParameterSet,
    gradients: readonly tf.Tensor[],
    optionsOf: (bucket: Bucket) => AdamWStep | null,
  ): Promise<void> {
    const optionsOfBuckets = this.buckets.map(optionsOf);
    for (const kind of ['policy', 'critic'] as const) {
      if (this.buckets.some((bucket, b) => optionsOfBuckets[b] && bucketKind(bucket) === kind))
        this.numSteps[kind]++;
    }
    for (const [b, bucket] of this.buckets.entries()) {
      const options = optionsOfBuckets[b];
      if (options === null) continue;
      const { first, second } = tf.tidy(() => this.stepBucket(bucket, b, parameters, gradients[b], options));
      await this.firstMoments.write(b, first);
      await this.secondMoments.write(b, second);
    }
  }

  /**
   * Encodes the state for `CheckpointFiles.write` as a safetensors file in pieces; one bucket's moments are in memory at a time.
   *
   * @param average stored with it, null for none
   */
  encode(average: WeightAverage | null = null): AsyncGenerator<Uint8Array> {
    const groups = MOMENTS.flatMap((moments) =>
      this.buckets.map(({ specs }, b) => ({
        specs,
        prefix: PREFIXES[moments],
        values: () => this[moments].data(b),
      })),
    );
    const { policy, critic } = this.numSteps;
    const isEven = policy === critic || !this.buckets.some((bucket) => bucket.isOfSeparateCritic);
    const steps = { step: `${policy}`, ...(isEven ? {} : { criticStep: `${critic}` }) };
    if (average === null) return encodeParameters(groups, { metadata: steps });
    return encodeParameters([...groups, ...average.groups()], { metadata: { ...steps, averages: 'yes' } });
  }

  /**
   * Replaces the state with that of a file from `encode`, one bucket at a time.
   *
   * @throws PolicyError `TENSOR_MISMATCH`, with the state unchanged, when a moment is missing or has another shape
   */
  async load(
    source: TensorSource,
    steps: { readonly policy: number; readonly critic: number },
  ): Promise<void> {
    for (const moments of MOMENTS) {
      for (const { specs } of this.buckets)
        requireParameters(source, specs, (name) => PREFIXES[moments] + name);
    }
    for (const moments of MOMENTS) {
      for (const [b, bucket] of this.buckets.entries()) {
        const vector = new Float32Array(bucketSize(bucket));
        let offset = 0;
        for (const spec of bucket.specs) {
          vector.set(await readParameter(source, spec, (name) => PREFIXES[moments] + name), offset);
          offset += numElements(spec.shape);
        }
        this[moments].assign(b, vector);
      }
    }
    Object.assign(this.numSteps, steps);
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
      step: this.numSteps[bucketKind(bucket)],
    });
    unflatten(bucket, weight).forEach((part, i) => {
      parameters.replace(bucket.specs[i].key, part);
    });
    return { first, second };
  }
}

function bucketKind({ isOfSeparateCritic }: Bucket): 'policy' | 'critic' {
  return isOfSeparateCritic ? 'critic' : 'policy';
}

function validateAdamWOptions(options: AdamWOptions): void {
  const check = (holds: boolean, name: keyof AdamWOptions, rule: string) => {
    requireConfig(holds, `optimizer option ${name}`, options[name], rule);
  };
  for (const name of ['beta1', 'beta2'] as const) {
    check(options[name] >= 0 && options[name] < 1, name, 'must be in [0, 1)');
  }
  check(options.epsilon > 0, 'epsilon', 'must be above 0');
  check(options.weightDecay >= 0, 'weightDecay', 'must not be negative');
}
