import { PROMPT_IDS, SAMPLED_IDS } from '../tokens/engine-tokens.js';
import type { ModelServer } from './model-server.js';

/** SGLang, by `sglang/srt/entrypoints/openai/protocol.py`. */
export const SGLANG = {
  sign: {
    path: '/get_model_info',
    field: 'model_path',
    directories: ['tokenizer_path', 'model_path'],
  },
  tellsStreamUsage: true,
  tokens: {
    idFlags: {
      'chat-completions': { return_token_ids: SAMPLED_IDS, return_prompt_token_ids: [PROMPT_IDS] },
      completions: {
        return_token_ids: [PROMPT_IDS, ...SAMPLED_IDS],
        return_prompt_token_ids: [PROMPT_IDS],
      },
    },
    areInResponses: false,
    logprobMode: 'processed',
    maxStopStrings: null,
    servesByName: false,
    takesAdapters: false,
  },
} as const satisfies ModelServer;
