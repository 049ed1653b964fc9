import type { Architecture } from './architecture.js';

/** Qwen2 and Qwen2.5: biases on queries, keys and values. */
export const qwen2: Architecture = {
  modelType: 'qwen2',
  className: 'Qwen2ForCausalLM',
  readFeatures: () => ({ attentionBias: true }),
  writeFeatures: ({ attentionBias, queryKeyNorm }) =>
    attentionBias && !queryKeyNorm ? { use_sliding_window: false } : null,
};
