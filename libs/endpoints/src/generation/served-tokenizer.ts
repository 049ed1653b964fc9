import { readTokenIds } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';
import type { ServiceClient } from '../http/service-client.js';
import { readAnswer, readField } from './read-answer.js';
import type { EngineOptions } from './token-engine.js';

/** Not found, not allowed, not implemented. */
const NO_ROUTE: readonly number[] = [404, 405, 501];

interface AskedText {
  readonly model: string;
  readonly text: string;
  readonly signal?: AbortSignal;
}

/** Tokenizer of a server, as far as it tells. */
export interface ServedTokenizer {
  /** Hash of its file, which `retrace serve` names; null otherwise. */
  readonly hash: string | null;
  /** Of the text; null where the server has no route for it. */
  readonly tokenIds: Int32Array | null;
}

/** Asks a server for its tokenizer: `/version` of `retrace serve`, `/tokenize` of vLLM and SGLang. @throws EndpointError */
export async function describeTokenizer(
  service: ServiceClient,
  options: EngineOptions,
  { model, text, signal }: AskedText,
): Promise<ServedTokenizer> {
  const hash = await unlessMissing(
    service.request({
      ...{ ...options, method: 'GET', path: '/version', signal },
      read: (answer) => readField(answer, 'tokenizer_hash'),
    }),
  );
  if (typeof hash === 'string') return { hash, tokenIds: null };
  const tokenIds = await unlessMissing(
    service.request({
      ...{ ...options, path: '/tokenize', signal },
      body: { model, prompt: text, add_special_tokens: false },
      read: (answer) => readAnswer(answer, () => readTokenIds(readField(answer, 'tokens'), 'tokens')),
    }),
  );
  return { hash: null, tokenIds };
}

/** null where the server has no such route. */
async function unlessMissing<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof EndpointError && NO_ROUTE.includes(error.status ?? 0)) return null;
    throw error;
  }
}
