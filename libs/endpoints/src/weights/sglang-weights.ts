import { EndpointError } from '../endpoint-error.js';
import type { EngineOptions } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';
import { requireVersion } from './confirm-version.js';
import { readField } from '../generation/read-answer.js';
import type { ConfirmedWeights, WeightDelivery, DeliveredWeights } from './weight-delivery.js';
import { whilePaused } from './while-paused.js';

/**
 * All weights of an SGLang server, which reads them from a directory while it is paused. Turns under way return to its queue, since the cache
 * holds keys and values of the old weights; they go on with the new ones, and their answers say so for each token.
 */
export class SglangWeights implements WeightDelivery {
  readonly form = 'model';
  readonly turnsUnderWay = 'switch';
  readonly lossShows = 'inTurns';

  constructor(
    private readonly service: ServiceClient,
    private readonly options: EngineOptions,
  ) {}

  /** Version of the weights, as the server says; null where it says none. */
  version(signal?: AbortSignal): Promise<string | null> {
    return this.service.request({
      ...this.options,
      method: 'GET',
      path: '/model_info',
      signal,
      read: (text) => {
        const version = readField(text, 'weight_version');
        return typeof version === 'string' ? version : null;
      },
    });
  }

  async deliver({ name, directory }: DeliveredWeights, signal?: AbortSignal): Promise<ConfirmedWeights> {
    if ((await this.version(signal)) !== name) {
      await whilePaused(
        {
          pause: () => this.post('/pause_generation', { mode: 'retract' }, signal),
          // Turns of other runs must go on even though this one stops.
          resume: () => this.post('/continue_generation', {}),
        },
        () => this.update(name, directory, signal),
      );
      requireVersion(await this.version(signal), name);
    }
    // SGLang serves one set of weights, and its own route takes no name.
    return { version: name, model: '' };
  }

  serving(_name: string, signal?: AbortSignal): Promise<string | null> {
    return this.version(signal);
  }

  /** Nothing: the newest weights replaced the older ones. */
  retire(): Promise<void> {
    return Promise.resolve();
  }

  private update(name: string, directory: string, signal?: AbortSignal): Promise<void> {
    return this.service.request({
      ...this.options,
      waits: false,
      path: '/update_weights_from_disk',
      body: { model_path: directory, weight_version: name, abort_all_requests: false, flush_cache: true },
      signal,
      read: (text) => {
        if (readField(text, 'success') === true) return;
        const message = readField(text, 'message');
        const reason = typeof message === 'string' ? message : 'the server does not say why';
        throw new EndpointError('WEIGHTS_NOT_TAKEN', `the weights were not updated: ${reason}`);
      },
    });
  }

  private post(path: string, body: unknown, signal?: AbortSignal): Promise<void> {
    return this.service.request({
      ...{ ...this.options, waits: false },
      ...{ path, body, signal, read: () => undefined },
    });
  }
}
