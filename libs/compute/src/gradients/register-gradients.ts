import * as tf from '@tensorflow/tfjs-core';
import { ARITHMETIC_GRADIENTS } from './arithmetic.js';
import { ELEMENTWISE_GRADIENTS } from './elementwise.js';
import type { Gradient } from './gradient.js';
import { REDUCTION_GRADIENTS } from './reductions.js';
import { SHAPE_GRADIENTS } from './shapes.js';

/**
 * Gradients of the kernels that Retrace differentiates through. tfjs-core's Node bundle registers none; the union
 * package `@tensorflow/tfjs`, which registers those of all kernels, takes 240 MB with its dependencies.
 */
export const GRADIENTS = {
  ...ARITHMETIC_GRADIENTS,
  ...ELEMENTWISE_GRADIENTS,
  ...SHAPE_GRADIENTS,
  ...REDUCTION_GRADIENTS,
};

/** Registers `GRADIENTS` for every backend; a second call changes nothing. */
export function registerGradients(): void {
  for (const [kernelName, gradient] of Object.entries(GRADIENTS)) {
    if (!tf.getGradient(kernelName)) tf.registerGradient(configOf(kernelName, gradient));
  }
}

function configOf(kernelName: string, gradient: Gradient): tf.GradConfig {
  const { inputs, output } = gradient;
  return {
    kernelName,
    ...(inputs === 'all' ? { saveAllInputs: true } : { inputsToSave: [...(inputs ?? [])] }),
    ...(output === true ? { outputsToSave: [true] } : {}),
    gradFunc: (dy, saved, attributes) =>
      gradient.of(dy, saved, attributes) as Record<string, () => tf.Tensor>,
  };
}
