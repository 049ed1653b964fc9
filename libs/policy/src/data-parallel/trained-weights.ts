import * as tf from '@tensorflow/tfjs-core';
import { numElements } from '../model/parameter-spec.js';
import type { Transformer } from '../model/transformer.js';
import { PolicyError } from '../policy-error.js';

/** What an optimizer changes of a model, a vector a parameter, in an order that equal models share. */
export async function readTrainedWeights(model: Transformer): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (const { key } of model.trainableSpecs) {
    vectors.push((await model.parameters.get(key).data()) as Float32Array);
  }
  return vectors;
}

/**
 * Puts weights that `readTrainedWeights` gave onto an equal model; the vectors belong to the device from then on.
 *
 * @throws PolicyError `TENSOR_MISMATCH`, before anything is replaced, when they are of another model
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
