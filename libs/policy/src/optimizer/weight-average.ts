import * as tf from '@retrace/compute/tensorflow';
import type { ParameterGroup } from '../checkpoints/parameter-file.js';
import type { SafetensorsFile } from '../checkpoints/safetensors-file.js';
import { readParameter, requireParameters } from '../checkpoints/tensor-source.js';
import type { Transformer } from '../model/transformer.js';

/** Precedes the name of a parameter in a file. */
const PREFIX = 'average.';

/** An exponential moving average of a model's trained weights, as a model that can be evaluated. */
export class WeightAverage {
  private constructor(readonly model: Transformer) {}

  /** Begins at the weights that the model has now. */
  static of(model: Transformer): WeightAverage {
    return new WeightAverage(model.clone());
  }

  /**
   * Reads the average that a file holds; null where it holds none.
   *
   * @param model of the same architecture, whose frozen weights it shares
   * @throws PolicyError `TENSOR_MISMATCH`, `NOT_FINITE`
   */
  static async read(file: SafetensorsFile, model: Transformer): Promise<WeightAverage | null> {
    if (file.header.metadata.averages !== 'yes') return null;
    requireParameters(file, model.trainableSpecs, named);
    const average = WeightAverage.of(model);
    try {
      for (const spec of model.trainableSpecs) {
        const values = await readParameter(file, spec, named);
        average.model.parameters.replace(spec.key, tf.tensor(values, [...spec.shape], 'float32'));
      }
      return average;
    } catch (error) {
      average.dispose();
      throw error;
    }
  }

  /** a ← d·a + (1 − d)·w for each trained weight w, d = `decay` in [0, 1]: at 1 the average stays, at 0 it is the model. */
  move(model: Transformer, decay: number): void {
    for (const { key } of model.trainableSpecs) {
      const moved = tf.tidy(() =>
        tf.add(tf.mul(this.model.parameter(key), decay), tf.mul(model.parameter(key), 1 - decay)),
      );
      this.model.parameters.replace(key, moved);
    }
  }

  /** Its parameters for a file, one at a time. */
  groups(): ParameterGroup[] {
    return this.model.trainableSpecs.map((spec) => ({
      specs: [spec],
      prefix: PREFIX,
      values: async () => (await this.model.parameter(spec.key).data()) as Float32Array,
    }));
  }

  /** Frees the device memory that the average does not share with its model. */
  dispose(): void {
    this.model.dispose();
  }
}

function named(name: string): string {
  return PREFIX + name;
}
