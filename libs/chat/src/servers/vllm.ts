import type { ModelServer } from './model-server.js';

/** vLLM, by `vllm/entrypoints/openai/chat_completion/protocol.py` and `vllm/entrypoints/openai/responses/protocol.py`. */
export const VLLM = {
  sign: { path: '/version', field: 'version' },
  tellsStreamUsage: true,
  tokens: {
    idFlags: ['return_token_ids'],
    areInResponses: true,
    logprobMode: 'raw',
    maxStopStrings: 4,
    servesByName: true,
    takesAdapters: true,
  },
} as const satisfies ModelServer;
