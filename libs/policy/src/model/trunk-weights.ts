import type * as tf from '@tensorflow/tfjs-core';
import { CRITIC_PREFIX } from './parameter-layout.js';
import type { ParameterSet } from './parameter-set.js';
import type { RotaryTable } from './rotary.js';
import type { TransformerConfig } from './transformer-config.js';

/** Weights that the forward pass reads: those of the policy, or of a critic with a trunk of its own. */
export interface TrunkWeights {
  readonly config: TransformerConfig;
  readonly rotary: RotaryTable;
  hasParameter(key: string): boolean;
  matrix(key: string): tf.Tensor;
  vector(key: string): tf.Tensor;
}

/** The critic's trunk: its own parameters, and the policy's where it has none (the frozen base under adapters). */
export class CriticTrunk implements TrunkWeights {
  constructor(
    readonly config: TransformerConfig,
    readonly rotary: RotaryTable,
    private readonly parameters: ParameterSet,
  ) {}

  hasParameter(key: string): boolean {
    return this.parameters.has(this.own(key));
  }

  matrix(key: string): tf.Tensor {
    return this.parameters.get(this.own(key));
  }

  vector(key: string): tf.Tensor {
    return this.matrix(key);
  }

  private own(key: string): string {
    return this.parameters.has(CRITIC_PREFIX + key) ? CRITIC_PREFIX + key : key;
  }
}
