import * as tf from '@retrace/compute/tensorflow';
import { numElements } from '../parameters/parameter-spec.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';

/** From this many elements a parameter gets its own bucket: copying it would cost more than the ops it saves. */
const LARGE_PARAMETER = 2 ** 16;
/** From this many elements a bucket takes no further parameter. */
const FULL_BUCKET = 2 ** 20;

/**
 * Parameters laid end to end in one vector, so that an optimizer step takes few ops however many small parameters
 * there are. A large parameter has its own bucket, which needs no copy and bounds the memory that a step allocates.
 */
export interface Bucket {
  readonly specs: readonly ParameterSpec[];
  /** Whether weight decay applies: to matrices, not to norms and biases. */
  readonly decays: boolean;
  /** Whether its parameters are a critic's that is optimized apart from the policy. */
  readonly isOfSeparateCritic: boolean;
}

/** @param isSeparate tells by its key that a parameter is a critic's that is optimized apart; no bucket mixes both */
export function makeBuckets(
  specs: readonly ParameterSpec[],
  isSeparate: (key: string) => boolean = () => false,
): Bucket[] {
  const buckets: Bucket[] = [];
  for (const isOfSeparateCritic of [false, true]) {
    const ofOne = specs.filter(({ key }) => isSeparate(key) === isOfSeparateCritic);
    for (const decays of [true, false]) {
      const alike = ofOne.filter(({ shape }) => shape.length > 1 === decays);
      buckets.push(...fillBuckets(alike).map((members) => ({ specs: members, decays, isOfSeparateCritic })));
    }
  }
  return buckets;
}

function fillBuckets(specs: readonly ParameterSpec[]): ParameterSpec[][] {
  const filled: ParameterSpec[][] = [];
  let members: ParameterSpec[] = [];
  let size = FULL_BUCKET;
  for (const spec of specs) {
    if (numElements(spec.shape) >= LARGE_PARAMETER) {
      filled.push([spec]);
      continue;
    }
    if (size >= FULL_BUCKET) {
      members = [];
      size = 0;
      filled.push(members);
    }
    members.push(spec);
    size += numElements(spec.shape);
  }
  return filled;
}

/** Numbers in a bucket's vector. */
export function bucketSize({ specs }: Bucket): number {
  return specs.reduce((sum, { shape }) => sum + numElements(shape), 0);
}

/** The vector of a bucket; a parameter that `tensorOf` doesn't have counts as 0. */
export function flatten({ specs }: Bucket, tensorOf: (key: string) => tf.Tensor | undefined): tf.Tensor {
  const vectors = specs.map(({ key, shape }) =>
    tf.reshape(tensorOf(key) ?? tf.zeros([...shape]), [numElements(shape)]),
  );
  return vectors.length === 1 ? vectors[0] : tf.concat(vectors);
}

/** The parts of a bucket's vector that was read from the device, by the key of their parameter. */
export function* namedParts(
  { specs }: Bucket,
  vector: Float32Array,
): Generator<[key: string, values: Float32Array]> {
  let start = 0;
  for (const { key, shape } of specs) {
    const end = start + numElements(shape);
    yield [key, vector.subarray(start, end)];
    start = end;
  }
}

/** The parameters of a bucket's vector, in the order of its specs. */
export function unflatten({ specs }: Bucket, vector: tf.Tensor): tf.Tensor[] {
  const sizes = specs.map(({ shape }) => numElements(shape));
  const parts = sizes.length === 1 ? [vector] : tf.split(vector, sizes);
  return parts.map((part, i) => tf.reshape(part, [...specs[i].shape]));
}
