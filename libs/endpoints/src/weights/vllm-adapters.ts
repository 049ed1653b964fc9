import { EndpointError } from '../endpoint-error.js';
import type { EngineOptions } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';
import { requireVersion } from './confirm-version.js';
import { readField } from '../generation/read-answer.js';
import type { ConfirmedWeights, WeightDelivery, DeliveredWeights } from './weight-delivery.js';

/**
 * LoRA adapters that a vLLM server serves beside its model, each under a name of its own. So a request says which version of the policy
 * samples it, one that is under way keeps it, and nothing needs to pause. The server needs `--enable-lora` and
 * VLLM_ALLOW_RUNTIME_LORA_UPDATING=1.
 */
export class VllmAdapters implements WeightDelivery {
  readonly form = 'adapter';
  readonly turnsUnderWay = 'keep';
  readonly lossShows = 'inTurns';

  constructor(
    private readonly service: ServiceClient,
    private readonly options: EngineOptions,
  ) {}

  /** Names of what the server serves: its model and its adapters. */
  names(signal?: AbortSignal): Promise<readonly string[]> {
    return this.service.request({
      ...this.options,
      method: 'GET',
      path: '/v1/models',
      signal,
      read: (text) => {
        const data = readField(text, 'data');
        if (!Array.isArray(data)) throw new EndpointError('MALFORMED_ANSWER', 'the answer has no list data');
        return (data as readonly { readonly id: string }[]).map(({ id }) => id);
      },
    });
  }

  /** @throws EndpointError `UNSUPPORTED` when the server was started without adapters; as `WeightDelivery.deliver` */
  async deliver({ name, directory }: DeliveredWeights, signal?: AbortSignal): Promise<ConfirmedWeights> {
    if (!(await this.names(signal)).includes(name)) {
      await this.load(name, directory, signal);
      const names = await this.names(signal);
      requireVersion(names.includes(name) ? name : null, name);
    }
    return { version: name, model: name };
  }

  async serving(name: string, signal?: AbortSignal): Promise<string | null> {
    return (await this.names(signal)).includes(name) ? name : null;
  }

  async retire(name: string, signal?: AbortSignal): Promise<void> {
    if (!(await this.names(signal)).includes(name)) return;
    await this.post('/v1/unload_lora_adapter', { lora_name: name }, signal);
  }

  private async load(name: string, directory: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.post('/v1/load_lora_adapter', { lora_name: name, lora_path: directory }, signal);
    } catch (error) {
      if (!isRouteMissing(error)) throw error;
      const rule = 'start it with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1';
      throw new EndpointError('UNSUPPORTED', `the server at ${this.service.url} loads no adapters; ${rule}`, {
        cause: error,
      });
    }
  }

  private post(path: string, body: unknown, signal?: AbortSignal): Promise<string> {
    return this.service.request({ ...this.options, path, body, signal, read: (text) => text });
  }
}

/** vLLM answers 404 for a directory without an adapter, too, but then with an error of its own. */
function isRouteMissing(error: unknown): boolean {
  return error instanceof EndpointError && error.status === 404 && error.message.includes('"detail"');
}
