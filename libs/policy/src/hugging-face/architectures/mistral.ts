import type { Architecture } from './architecture.js';

/** Mistral: Llama's block. Its sliding window is read as every model's is; one without a window is written as Llama. */
export const mistral: Architecture = {
  modelType: 'mistral',
  className: 'MistralForCausalLM',
  readFeatures: () => ({ attentionBias: false }),
  writeFeatures: () => null,
};
