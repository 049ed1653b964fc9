import * as tf from '@retrace/compute/tensorflow';
import { numElements } from '../parameters/parameter-spec.js';
import type { Transformer } from '../model/transformer.js';
import { PolicyError } from '../policy-error.js';

/** Reads `Transformer.trainableSpecs` of a model: one vector for each parameter, in the same order for equal models. */
export async function readTrainedWeights(model: Transformer): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (const { key } of model.trainableSpecs) {
    vectors.push((await model.parameters.get(key).data()) as Float32Array);
  }
  return vectors;
}

/**
 * Replaces the weights of a model with those from `readTrainedWeights` of an equal one, and takes ownership of the vectors.
 *
 * @throws PolicyError `TENSOR_MISMATCH`, before anything is replaced, when they have other sizes
 */
export function assignTrainedWeights(model: Transformer, vectors: readonly Float32Array[]): void {
  const sizes = model.trainableSpecs.map(({ shape }) => numElements(shape));
  if (vectors.map(({ length }) => length).join() !== sizes.join()) {
    throw new PolicyError(
      'TENSOR_MISMATCH',
      `weights of ${vectors.length} parameters have ${vectors.reduce((sum, { length }) => sum + length, 0)} values; ` +
        `the model trains ${sizes.length} with ${sizes.reduce((sum, size) => sum + size, 0)}`,
    );
  }
  model.trainableSpecs.forEach(({ key, shape }, i) => {
    model.parameters.replace(key, tf.tensor(vectors[i], [...shape], 'float32'));
  });
}
