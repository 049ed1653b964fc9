import * as tf from '@tensorflow/tfjs-core';
import type { NamedTensors } from '../model/named-tensors.js';
import type { ParameterSpec } from '../model/parameter-layout.js';
import { ParameterSet } from '../model/parameter-set.js';
import { PolicyError } from '../policy-error.js';

export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled; applies to matrices, not to norms and biases. */
  readonly weightDecay: number;
}

/** All that a later process needs to go on with the same steps. */
export interface AdamWState {
  readonly step: number;
  readonly firstMoments: NamedTensors;
  readonly secondMoments: NamedTensors;
}

export interface AdamWStep {
  readonly learningRate: number;
  /** Factor on every gradient (clipping). */
  readonly gradientScale: number;
}

/**
 * AdamW (arXiv:1711.05101, algorithm 2) with bias correction:
 * m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η(m̂/(√v̂ + ε) + λθ).
 */
export class AdamW {
  private numSteps = 0;
  private readonly firstMoments: ParameterSet;
  private readonly secondMoments: ParameterSet;

  constructor(
    private readonly specs: readonly ParameterSpec[],
    private readonly options: AdamWOptions,
  ) {
    validateAdamWOptions(options);
    this.firstMoments = ParameterSet.zeros(specs);
    this.secondMoments = ParameterSet.zeros(specs);
  }

  /** Replaces every parameter that has a gradient. */
  step(
    parameters: ParameterSet,
    gradients: ReadonlyMap<string, tf.Tensor>,
    { learningRate, gradientScale }: AdamWStep,
  ): void {
    const { beta1, beta2, epsilon, weightDecay } = this.options;
    this.numSteps++;
    const firstCorrection = 1 - beta1 ** this.numSteps;
    const secondCorrection = 1 - beta2 ** this.numSteps;
    for (const spec of this.specs) {
      const gradient = gradients.get(spec.key);
      if (gradient === undefined) continue;
      const decay = spec.shape.length > 1 ? weightDecay : 0;
      tf.tidy(() => {
        const g = tf.mul(gradient, gradientScale);
        const m = tf.add(tf.mul(this.firstMoments.get(spec.key), beta1), tf.mul(g, 1 - beta1));
        const v = tf.add(tf.mul(this.secondMoments.get(spec.key), beta2), tf.mul(tf.square(g), 1 - beta2));
        const direction = tf.div(
          tf.mul(m, learningRate / firstCorrection),
          tf.add(tf.sqrt(tf.div(v, secondCorrection)), epsilon),
        );
        const weight = parameters.get(spec.key);
        const decayed = decay === 0 ? weight : tf.mul(weight, 1 - learningRate * decay);
        parameters.replace(spec.key, tf.sub(decayed, direction));
        this.firstMoments.replace(spec.key, m);
        this.secondMoments.replace(spec.key, v);
      });
    }
  }

  async exportState(): Promise<AdamWState> {
    return {
      step: this.numSteps,
      firstMoments: await this.firstMoments.export(),
      secondMoments: await this.secondMoments.export(),
    };
  }

  importState(state: AdamWState): void {
    this.firstMoments.assign(state.firstMoments);
    this.secondMoments.assign(state.secondMoments);
    this.numSteps = state.step;
  }

  dispose(): void {
    this.firstMoments.dispose();
    this.secondMoments.dispose();
  }
}

function validateAdamWOptions(options: AdamWOptions): void {
  for (const name of ['beta1', 'beta2'] as const) {
    if (!(options[name] >= 0 && options[name] < 1)) refuse(name, options[name], 'must be in [0, 1)');
  }
  if (!(options.epsilon > 0)) refuse('epsilon', options.epsilon, 'must be above 0');
  if (!(options.weightDecay >= 0)) refuse('weightDecay', options.weightDecay, 'must not be negative');
}

function refuse(name: keyof AdamWOptions, value: number, rule: string): never {
  throw new PolicyError('INVALID_CONFIG', `optimizer option ${name} is ${value}; it ${rule}`);
}
