import type * as tf from '@tensorflow/tfjs-core';
import { initialTensors } from './initialization.js';
import type { NamedTensors } from './named-tensors.js';
import { embeddingKey, lmHeadKey, numElements, parameterSpecs } from './parameter-layout.js';
import { ParameterSet } from './parameter-set.js';
import { RotaryTable } from './rotary.js';
import { validateTransformerConfig } from './transformer-config.js';
import type { TransformerConfig } from './transformer-config.js';

/** A decoder-only transformer with its weights on the device. */
export class Transformer {
  readonly numParameters: number;
  readonly rotary: RotaryTable;

  private constructor(
    readonly config: TransformerConfig,
    readonly parameters: ParameterSet,
  ) {
    this.numParameters = parameters.specs.reduce((sum, spec) => sum + numElements(spec.shape), 0);
    this.rotary = new RotaryTable(config);
  }

  /** Random weights; the same config and seed give the same bits. */
  static initialize(config: TransformerConfig, seed: number): Transformer {
    validateTransformerConfig(config);
    return Transformer.fromTensors(config, initialTensors(config, seed));
  }

  /**
   * Weights by Hugging Face name; names the config has no use for are ignored.
   * Throws `PolicyError` (`TENSOR_MISMATCH`) when a weight is missing or has another shape.
   */
  static fromTensors(config: TransformerConfig, tensors: NamedTensors): Transformer {
    validateTransformerConfig(config);
    return new Transformer(config, ParameterSet.fromNamed(parameterSpecs(config), tensors));
  }

  /** Replaces all weights in place (hot swap); refuses as `fromTensors` does and then leaves the weights as they are. */
  assignTensors(tensors: NamedTensors): void {
    this.parameters.assign(tensors);
  }

  /** A copy of all weights in host memory. */
  exportTensors(): Promise<NamedTensors> {
    return this.parameters.export();
  }

  /** A model of its own that starts from the same weights. */
  clone(): Transformer {
    return new Transformer(this.config, this.parameters.clone());
  }

  matrix(key: string): tf.Tensor {
    return this.parameters.get(key);
  }

  vector(key: string): tf.Tensor {
    return this.parameters.get(key);
  }

  /** [vocabSize, hiddenSize] */
  get lmHead(): tf.Tensor {
    return this.matrix(this.config.tieWordEmbeddings ? embeddingKey : lmHeadKey);
  }

  dispose(): void {
    this.parameters.dispose();
    this.rotary.dispose();
  }
}
