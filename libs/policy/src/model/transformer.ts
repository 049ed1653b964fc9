import * as tf from '@tensorflow/tfjs-core';
import type { TensorSource } from '../checkpoints/tensor-source.js';
import { mergedWeight, withoutAdapters } from './adapted-projection.js';
import { initialTensors } from './initialization.js';
import type { NamedTensors } from './named-tensors.js';
import { EMBEDDING_KEY, LM_HEAD_KEY, parameterSpecs } from './parameter-layout.js';
import { ParameterSet } from './parameter-set.js';
import { numElements } from './parameter-spec.js';
import type { ParameterSpec } from './parameter-spec.js';
import { RotaryTable } from './rotary.js';
import { validateTransformerConfig } from './transformer-config.js';
import type { TransformerConfig } from './transformer-config.js';
import { CriticTrunk } from './trunk-weights.js';
import type { TrunkWeights } from './trunk-weights.js';

/** A decoder-only transformer with its weights on the device. */
export class Transformer implements TrunkWeights {
  readonly numParameters: number;
  readonly rotary: RotaryTable;
  /** What an optimizer changes: everything, or under adapters those and what the critic has for itself. */
  readonly trainableSpecs: readonly ParameterSpec[];
  /** The trunk that the value head reads, where it is not the policy's. */
  readonly critic: TrunkWeights | null;

  /** Takes ownership of the parameters, which are those that `parameterSpecs` names. */
  constructor(
    readonly config: TransformerConfig,
    readonly parameters: ParameterSet,
  ) {
    this.numParameters = parameters.specs.reduce((sum, spec) => sum + numElements(spec.shape), 0);
    this.trainableSpecs = parameters.specs.filter((spec) => !spec.isFrozen);
    this.rotary = new RotaryTable(config);
    this.critic = config.valueTrunk === 'own' ? new CriticTrunk(config, this.rotary, parameters) : null;
  }

  /** Numbers in `trainableSpecs`. */
  get numTrainedParameters(): number {
    return this.trainableSpecs.reduce((sum, { shape }) => sum + numElements(shape), 0);
  }

  /** Random weights; the same config and seed give the same bits. */
  static initialize(config: TransformerConfig, seed: number): Transformer {
    validateTransformerConfig(config);
    return Transformer.fromTensors(config, initialTensors(config, seed));
  }

  /**
   * Weights by Hugging Face name; names the config has no use for are ignored.
   *
   * @throws PolicyError `TENSOR_MISMATCH` when a weight is missing or has another shape
   */
  static fromTensors(config: TransformerConfig, tensors: NamedTensors): Transformer {
    validateTransformerConfig(config);
    return new Transformer(config, ParameterSet.fromNamed(parameterSpecs(config), tensors));
  }

  /** Replaces all weights in place (hot swap); refuses as `fromTensors` does and then leaves the weights as they are. */
  assignTensors(tensors: NamedTensors): void {
    this.parameters.assign(tensors);
  }

  /** `assignTensors` of what is trained: under adapters, a small part of the model. */
  assignTrainableTensors(tensors: NamedTensors): void {
    this.parameters.assign(tensors, this.trainableSpecs);
  }

  /** `assignTrainableTensors` from a file, a parameter at a time (`ParameterSet.assignFrom`). */
  loadTrainableTensors(source: TensorSource): Promise<void> {
    return this.parameters.assignFrom(source, this.trainableSpecs);
  }

  /** A copy of all weights in host memory. */
  exportTensors(): Promise<NamedTensors> {
    return this.parameters.export();
  }

  /** A copy in host memory of what is trained. */
  exportTrainableTensors(): Promise<NamedTensors> {
    return this.parameters.export(this.trainableSpecs);
  }

  /** A model of its own that starts from the same weights. */
  clone(): Transformer {
    return new Transformer(this.config, this.parameters.clone());
  }

  /**
   * The same policy without adapters: a model of its own whose weights have them added. It keeps a value head, unless
   * that reads a trunk with adapters of its own.
   */
  merge(): Transformer {
    const config = withoutAdapters(this.config);
    const tensors = new Map<string, tf.Tensor>();
    const specs = parameterSpecs(config);
    tf.tidy(() => {
      for (const { key } of specs) tensors.set(key, tf.keep(mergedWeight(this, key)));
    });
    return new Transformer(config, ParameterSet.of(specs, tensors));
  }

  hasParameter(key: string): boolean {
    return this.parameters.has(key);
  }

  matrix(key: string): tf.Tensor {
    return this.parameters.get(key);
  }

  vector(key: string): tf.Tensor {
    return this.parameters.get(key);
  }

  /** [vocabSize, hiddenSize] */
  get lmHead(): tf.Tensor {
    return this.matrix(this.config.tieWordEmbeddings ? EMBEDDING_KEY : LM_HEAD_KEY);
  }

  dispose(): void {
    this.parameters.dispose();
    this.rotary.dispose();
  }
}
