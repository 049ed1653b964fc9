import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndpointRecipe } from '@retrace/config';
import { SglangWeights, VllmAdapters, type EngineOptions, type ServiceClient } from '@retrace/endpoints';
import { saveAdapter, saveHuggingFaceModel, type PolicyText, type Transformer } from '@retrace/policy';
import { servedName, type ServedPolicy } from './endpoint-actor.js';
import type { PausableEngine } from './pausable-engine.js';
import type { StartedServer } from './started-server.js';

interface ServedPoliciesOptions {
  readonly runId: string;
  readonly kind: EndpointRecipe['kind'];
  /** Where the server reads weights from. */
  readonly directory: string;
  /** Directory of the model that the policy started from. */
  readonly baseModel: string;
  readonly text: PolicyText;
  readonly service: ServiceClient;
  /** The server, where each version starts it again. */
  readonly started: StartedServer | null;
  /** The engine whose turns a start must not cut. */
  readonly pausable: PausableEngine;
  readonly engine: EngineOptions;
  readonly signal: AbortSignal;
}

/** Brings policy versions to the server that samples, and takes old ones away. */
export class ServedPolicies {
  private readonly served: ServedPolicy[] = [];

  constructor(private readonly options: ServedPoliciesOptions) {}

  /** The newest version that the server has said it serves. */
  get newest(): ServedPolicy {
    const newest = this.served.at(-1);
    if (newest === undefined) throw new Error('the server serves no policy version yet');
    return newest;
  }

  /**
   * Brings the weights of a model to the server, unless it has them, and waits until the server says so. The version before stays, as turns
   * under way need it.
   *
   * @throws EndpointError when the server refuses; PolicyError when the weights can't be written
   */
  async serve(policyVersion: number, model: Transformer): Promise<void> {
    const { runId, kind, started, pausable, signal } = this.options;
    if (this.served.at(-1)?.policyVersion === policyVersion) return;
    const name = servedName(runId, policyVersion);
    const directory = join(this.options.directory, name);
    await this.write(directory, model);
    if (started) await pausable.whilePaused(() => started.serve(directory, name));
    else if (kind === 'vllm') await this.adapters.load(name, directory, signal);
    else await this.weights.load(directory, name, signal);
    this.served.push({ policyVersion, model: name });
    while (this.served.length > 2) await this.drop(this.served[0]);
  }

  private get adapters(): VllmAdapters {
    return new VllmAdapters(this.options.service, this.options.engine);
  }

  private get weights(): SglangWeights {
    return new SglangWeights(this.options.service, this.options.engine);
  }

  /** A directory appears whole or not at all, so one that is there was written by another collector, or before a restart. */
  private async write(directory: string, model: Transformer): Promise<void> {
    if (await exists(directory)) return;
    const { kind, baseModel, text, started } = this.options;
    if (kind === 'vllm' && !started) await saveAdapter(directory, model, { baseModel });
    else await saveHuggingFaceModel(directory, model, { text, baseDirectory: baseModel });
  }

  private async drop({ model }: ServedPolicy): Promise<void> {
    const { kind, directory, started, signal } = this.options;
    this.served.shift();
    if (kind === 'vllm' && !started) {
      const names = await this.adapters.names(signal);
      if (names.includes(model)) await this.adapters.unload(model, signal);
    }
    await rm(join(directory, model), { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
