import type { Architecture } from './architecture.js';

/** Qwen3: queries and keys are normed, head by head. */
export const qwen3: Architecture = {
  modelType: 'qwen3',
  className: 'Qwen3ForCausalLM',
  readFeatures(json) {
    // The flag puts a bias on the output projection, too.
    json.requireAbsentOr('attention_bias', false);
    return { attentionBias: false, queryKeyNorm: true };
  },
  writeFeatures: ({ attentionBias, queryKeyNorm }) =>
    queryKeyNorm && !attentionBias ? { attention_bias: false, use_sliding_window: false } : null,
};
