import * as tf from '@retrace/compute/tensorflow';
import type { TensorSource } from '../checkpoints/tensor-source.js';
import { mergedWeight, withoutAdapters } from './adapted-projection.js';
import { initialTensors } from './initialization.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { EMBEDDING_KEY, LM_HEAD_KEY, parameterSpecs } from './parameter-layout.js';
import { ParameterSet } from './parameter-set.js';
import { numElements } from '../parameters/parameter-spec.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';
import { RotaryTable } from './rotary.js';
import { validateTransformerConfig } from './transformer-config.js';
import type { TransformerConfig } from './transformer-config.js';
import { CriticTrunk } from './trunk-weights.js';
import type { TrunkWeights } from './trunk-weights.js';

/** A decoder-only transformer with its weights on the device. */
export class Transformer implements TrunkWeights {
  readonly numParameters: number;
  readonly rotary: RotaryTable;
  /** The parameters that an optimizer changes: all of them, or of a model with adapters those and the critic's own. */
  readonly trainableSpecs: readonly ParameterSpec[];
  /** The trunk that the value head reads; null when that is the policy's. */
  readonly critic: TrunkWeights | null;

  /** Takes ownership of the parameters, which must be those of `parameterSpecs(config)`. */
  constructor(
    readonly config: TransformerConfig,
    readonly parameters: ParameterSet,
  ) {
    this.numParameters = parameters.specs.reduce((sum, spec) => sum + numElements(spec.shape), 0);
    this.trainableSpecs = parameters.specs.filter((spec) => !spec.isFrozen);
    this.rotary = new RotaryTable(config);
    this.critic = config.valueTrunk === 'own' ? new CriticTrunk(config, this.rotary, parameters) : null;
  }

  /** How many numbers `trainableSpecs` have. */
  get numTrainedParameters(): number {
    return this.trainableSpecs.reduce((sum, { shape }) => sum + numElements(shape), 0);
  }

  /** Makes a model with random weights; the same config and seed give the same bits. */
  static initialize(config: TransformerConfig, seed: number): Transformer {
    validateTransformerConfig(config);
    return Transformer.fromTensors(config, initialTensors(config, seed));
  }

  /**
   * Makes a model from weights by Hugging Face name; names that the config does not need are ignored.
   *
   * @throws PolicyError `TENSOR_MISMATCH` when a weight is missing or has another shape
   */
  static fromTensors(config: TransformerConfig, tensors: NamedTensors): Transformer {
    validateTransformerConfig(config);
    return new Transformer(config, ParameterSet.fromNamed(parameterSpecs(config), tensors));
  }

  /**
   * Replaces all weights in place (hot swap).
   *
   * @throws PolicyError as `fromTensors`, with the weights unchanged
   */
  assignTensors(tensors: NamedTensors): void {
    this.parameters.assign(tensors);
  }

  /** Replaces the trained weights with those of a file, one parameter at a time (`ParameterSet.assignFrom`). */
  loadTrainableTensors(source: TensorSource): Promise<void> {
    return this.parameters.assignFrom(source, this.trainableSpecs);
  }

  /** Takes over the trained weights of another model of this architecture; the two change independently afterwards. */
  copyTrained(other: Transformer): void {
    for (const { key } of this.trainableSpecs) this.parameters.replace(key, tf.clone(other.parameter(key)));
  }

  /** Copies all weights to host memory. */
  exportTensors(): Promise<NamedTensors> {
    return this.parameters.export();
  }

  /** Copies the model; the weights of the two change independently. */
  clone(): Transformer {
    return new Transformer(this.config, this.parameters.clone());
  }

  /**
   * Copies the policy with its adapters added to the weights. The copy keeps the value head, unless that reads a trunk
   * with its own adapters.
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

  parameter(key: string): tf.Tensor {
    return this.parameters.get(key);
  }

  /** [vocabSize, hiddenSize] */
  get lmHead(): tf.Tensor {
    return this.parameter(this.config.tieWordEmbeddings ? EMBEDDING_KEY : LM_HEAD_KEY);
  }

  dispose(): void {
    this.parameters.dispose();
    this.rotary.dispose();
  }
}
