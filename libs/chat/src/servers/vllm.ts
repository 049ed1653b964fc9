import { PROMPT_IDS, SAMPLED_IDS } from '../tokens/engine-tokens.js';
import type { ModelServer } from './model-server.js';

const ID_FLAGS = { return_token_ids: [PROMPT_IDS, ...SAMPLED_IDS] };

/** vLLM, by `vllm/entrypoints/openai/chat_completion/protocol.py` and `vllm/entrypoints/openai/responses/protocol.py`. */
export const VLLM = {
  sign: { path: '/version', field: 'version' },
  tellsStreamUsage: true,
  tokens: {
    idFlags: { 'chat-completions': ID_FLAGS, completions: ID_FLAGS },
    areInResponses: true,
    logprobMode: 'raw',
    maxStopStrings: 4,
    servesByName: true,
    takesAdapters: true,
  },
} as const satisfies ModelServer;
