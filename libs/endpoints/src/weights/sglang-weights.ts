import { EndpointError } from '../endpoint-error.js';
import { readJson } from '../generation/read-answer.js';
import type { EngineOptions } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';

/** The weights of an SGLang server, which it reads from a directory. Answers under way go on with the new ones, and say so for each token. */
export class SglangWeights {
  constructor(
    private readonly service: ServiceClient,
    private readonly options: EngineOptions,
  ) {}

  /** Version of the weights, as the server says. */
  version(signal?: AbortSignal): Promise<string | null> {
    return this.service.request({
      ...this.options,
      method: 'GET',
      path: '/model_info',
      signal,
      read: (text) => {
        const version = (readJson(text) as { readonly weight_version?: unknown } | null)?.weight_version;
        return typeof version === 'string' ? version : null;
      },
    });
  }

  /**
   * Replaces the weights by those of a model directory that the server sees, and asks the server for its version. The cache of keys and
   * values is flushed, as it holds those of the old weights.
   *
   * @throws EndpointError `HTTP_STATUS` when the server refuses; `MALFORMED_ANSWER` when it then has another version
   */
  async load(directory: string, version: string, signal?: AbortSignal): Promise<void> {
    if ((await this.version(signal)) === version) return;
    await this.service.request({
      ...this.options,
      path: '/update_weights_from_disk',
      body: { model_path: directory, weight_version: version, abort_all_requests: false, flush_cache: true },
      signal,
      read: (text) => {
        const { success, message } = readJson(text) as { success?: unknown; message?: unknown };
        if (success === true) return;
        const reason = typeof message === 'string' ? message : 'the server does not say why';
        throw new EndpointError('MALFORMED_ANSWER', `the weights were not updated: ${reason}`);
      },
    });
    const found = await this.version(signal);
    if (found === version) return;
    throw new EndpointError('MALFORMED_ANSWER', `the weights are version ${found}, must be ${version}`);
  }
}
