import type { Recipe } from './recipe.js';

/**
 * Precision of matrix products and size of the largest weight matrix, which a process must know before it loads TensorFlow. Every
 * process of a run takes them from the recipe, so that all round alike.
 */
export function matrixProducts({ model, compute }: Recipe) {
  return {
    matMulPrecision: compute?.matMulPrecision ?? 'float32',
    largestMatrix: model ? Math.max(model.hiddenSize, model.intermediateSize) * model.hiddenSize : undefined,
  } as const;
}
