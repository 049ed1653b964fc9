import type { ModelServer } from './model-server.js';

/** SGLang, by `sglang/srt/entrypoints/openai/protocol.py`. */
export const SGLANG = {
  sign: { path: '/get_model_info', field: 'model_path' },
  tellsStreamUsage: true,
  tokens: {
    idFlags: ['return_token_ids', 'return_prompt_token_ids'],
    areInResponses: false,
    logprobMode: 'processed',
    maxStopStrings: null,
    servesByName: false,
    takesAdapters: false,
  },
} as const satisfies ModelServer;
