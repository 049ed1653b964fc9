import type * as tf from '@retrace/compute/tensorflow';
import { CRITIC_PREFIX } from './parameter-layout.js';
import type { ParameterSet } from './parameter-set.js';
import type { RotaryTable } from './rotary.js';
import type { TransformerConfig } from './transformer-config.js';

/** The weights that the forward pass reads: those of the policy, or of a critic with its own trunk. */
export interface TrunkWeights {
  readonly config: TransformerConfig;
  readonly rotary: RotaryTable;
  hasParameter(key: string): boolean;
  parameter(key: string): tf.Tensor;
}

/** The critic's trunk: its own parameters, and the policy's for those that it lacks (the frozen base under adapters). */
export class CriticTrunk implements TrunkWeights {
  constructor(
    readonly config: TransformerConfig,
    readonly rotary: RotaryTable,
    private readonly parameters: ParameterSet,
  ) {}

  hasParameter(key: string): boolean {
    return this.parameters.has(this.own(key));
  }

  parameter(key: string): tf.Tensor {
    return this.parameters.get(this.own(key));
  }

  private own(key: string): string {
    return this.parameters.has(CRITIC_PREFIX + key) ? CRITIC_PREFIX + key : key;
  }
}
