import type { Architecture } from './architecture.js';

/** Llama 2 and 3, and what has the same block under its name. */
export const llama: Architecture = {
  modelType: 'llama',
  className: 'LlamaForCausalLM',
  readFeatures(json) {
    // The flag puts a bias on the output projection, too.
    json.requireAbsentOr('attention_bias', false);
    return { attentionBias: false };
  },
  writeFeatures: ({ attentionBias, queryKeyNorm }) =>
    attentionBias || queryKeyNorm ? null : { attention_bias: false, mlp_bias: false },
};
