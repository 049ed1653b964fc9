import { EndpointError } from '../endpoint-error.js';
import type { EngineOptions } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';
import { requireVersion } from './confirm-version.js';
import { readField } from '../generation/read-answer.js';
import type { ConfirmedWeights, WeightDelivery, DeliveredWeights } from './weight-delivery.js';
import { VllmAdapters } from './vllm-adapters.js';
import { whilePaused } from './while-paused.js';

/**
 * All weights of a vLLM server, by its API for weight updates: pause, start, update, finish with a version, resume. vLLM's own transports need
 * GPUs on both sides; the transport `retrace_files` of the Python package `retrace` reads a directory. The server needs
 * `--weight-transfer-config '{"backend": "retrace_files"}'` and VLLM_SERVER_DEV_MODE=1.
 */
export class VllmWeightUpdate implements WeightDelivery {
  readonly form = 'model';
  readonly turnsUnderWay = 'ended';
  readonly lossShows = 'whenAsked';
  private model: string | null = null;

  constructor(
    private readonly service: ServiceClient,
    private readonly options: EngineOptions,
  ) {}

  async deliver({ name, directory }: DeliveredWeights, signal?: AbortSignal): Promise<ConfirmedWeights> {
    this.model ??= (await new VllmAdapters(this.service, this.options).names(signal))[0];
    if ((await this.version(signal)) !== name) {
      await whilePaused(
        {
          pause: () => this.pause(signal),
          // Turns of other runs must go on even though this one stops.
          resume: () => this.resume(),
        },
        () => this.update(name, directory, signal),
      );
      requireVersion(await this.version(signal), name);
    }
    return { version: name, model: this.model };
  }

  serving(_name: string, signal?: AbortSignal): Promise<string | null> {
    return this.version(signal);
  }

  /** Nothing: the newest weights replaced the older ones. */
  retire(): Promise<void> {
    return Promise.resolve();
  }

  private async version(signal?: AbortSignal): Promise<string | null> {
    try {
      const version = await this.get('/weight_info', 'weight_version', signal);
      return typeof version === 'string' ? version : null;
    } catch (error) {
      if (!(error instanceof EndpointError && error.status === 404)) throw error;
      throw this.unsupported('start it with VLLM_SERVER_DEV_MODE=1', error);
    }
  }

  /** The server waits for turns under way; those of this collector have ended before. */
  private async pause(signal?: AbortSignal): Promise<void> {
    await this.post('/pause?mode=wait', {}, signal);
    await this.requirePaused(true, signal);
  }

  private async resume(): Promise<void> {
    await this.post('/resume', {});
    await this.requirePaused(false);
  }

  private async requirePaused(expected: boolean, signal?: AbortSignal): Promise<void> {
    const found = await this.get('/is_paused', 'is_paused', signal);
    if (found === expected) return;
    const message = `the server says is_paused ${JSON.stringify(found)}, must be ${expected}`;
    throw new EndpointError('MALFORMED_ANSWER', message);
  }

  private async update(name: string, directory: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.post('/start_weight_update', {}, signal);
    } catch (error) {
      if (!(error instanceof EndpointError && error.message.includes('not configured'))) throw error;
      throw this.unsupported(`start it with --weight-transfer-config '{"backend": "retrace_files"}'`, error);
    }
    await this.post('/update_weights', { update_info: { directory } }, signal);
    await this.post('/finish_weight_update', { weight_version: name }, signal);
  }

  private unsupported(rule: string, cause: unknown): EndpointError {
    const message = `the server at ${this.service.url} takes no weights; ${rule}`;
    return new EndpointError('UNSUPPORTED', message, { cause });
  }

  private get(path: string, field: string, signal?: AbortSignal): Promise<unknown> {
    const read = (text: string) => readField(text, field);
    return this.service.request({ ...this.options, method: 'GET', path, signal, read });
  }

  /** Made once: a step of an update that was begun twice is refused, and after a restart the server has to begin the update again. */
  private post(path: string, body: unknown, signal?: AbortSignal): Promise<void> {
    const read = () => undefined;
    return this.service.request({ ...this.options, maxRetries: 0, waits: false, path, body, signal, read });
  }
}
