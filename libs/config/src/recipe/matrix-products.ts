import type { Recipe } from './recipe.js';

/**
 * Settings that a process needs before it loads TensorFlow for a run: with which precision matrices are multiplied, and how large the
 * weights are. Every process that computes for a run takes it from the recipe, so that they all round alike.
 */
export function matrixProducts({ model, compute }: Recipe) {
  return {
    matMulPrecision: compute?.matMulPrecision ?? 'float32',
    largestMatrix: model ? Math.max(model.hiddenSize, model.intermediateSize) * model.hiddenSize : undefined,
  } as const;
}
