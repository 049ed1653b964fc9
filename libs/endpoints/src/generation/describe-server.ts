import type { ServiceClient } from '../http/service-client.js';
import { readJson } from './read-answer.js';
import type { EngineOptions } from './token-engine.js';

interface Described {
  readonly service: ServiceClient;
  readonly options: EngineOptions;
  readonly name: string;
  /** Answers with an object that has a `version`. */
  readonly path: string;
  readonly signal: AbortSignal | undefined;
}

/** Name and version of a server, as it says. @throws EndpointError */
export async function describeServer({ service, options, name, path, signal }: Described): Promise<string> {
  const answer = await service.request({
    ...options,
    method: 'GET',
    path,
    signal,
    read: (text) => readJson(text) as { readonly version?: unknown } | null,
  });
  return typeof answer?.version === 'string' ? `${name} ${answer.version}` : name;
}
