import { EndpointError } from '../endpoint-error.js';
import type { ServiceClient } from '../http/service-client.js';
import { readField } from './read-answer.js';
import type { EngineOptions } from './token-engine.js';

interface ListedModel {
  readonly id?: unknown;
  /** Directory or name that the server loaded. */
  readonly root?: unknown;
  /** Of an adapter, its model. */
  readonly parent?: unknown;
  readonly max_model_len?: unknown;
}

export interface ServedModel {
  /** Directory or name of the model that the server loaded; of an adapter, its base's; null where the server does not say it. */
  readonly root: string | null;
  /** Most tokens of a context. */
  readonly maxTokens: number;
}

/** Reads what a vLLM server says about a model or adapter. @throws EndpointError `UNSUPPORTED` when it serves none of this name */
export async function describeVllmModel(
  service: ServiceClient,
  options: EngineOptions,
  { model, signal }: { readonly model: string; readonly signal?: AbortSignal },
): Promise<ServedModel> {
  const read = (text: string) => readField(text, 'data') as readonly ListedModel[] | undefined;
  const listed = await service.request({ ...options, method: 'GET', path: '/v1/models', signal, read });
  const models = Array.isArray(listed) ? (listed as readonly ListedModel[]) : [];
  const found = models.find(({ id }) => id === model);
  if (found === undefined) {
    const names = models.map(({ id }) => String(id)).join(', ');
    throw new EndpointError(
      'UNSUPPORTED',
      `the server serves no model "${model}"; it serves ${names || 'none'}`,
    );
  }
  const base = typeof found.parent === 'string' ? models.find(({ id }) => id === found.parent) : found;
  if (typeof base?.max_model_len !== 'number')
    throw new EndpointError('MALFORMED_ANSWER', `the server says no max_model_len of "${model}"`);
  return { root: typeof base.root === 'string' ? base.root : null, maxTokens: base.max_model_len };
}
