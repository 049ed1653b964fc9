import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WeightDelivery, DeliveredWeights } from '@retrace/endpoints';
import { saveAdapter, saveHuggingFaceModel, type PolicyText, type Transformer } from '@retrace/policy';
import { servedName, type ServedPolicy } from './endpoint-actor.js';
import type { PausableEngine } from './pausable-engine.js';
import type { WeightCheck } from './weight-check.js';

interface ServedPoliciesOptions {
  readonly runId: string;
  /** Where the server reads weights from. */
  readonly directory: string;
  /** Directory of the model that the policy started from. */
  readonly baseModel: string;
  readonly text: PolicyText;
  readonly delivery: WeightDelivery;
  /** The engine whose turns some deliveries must not meet. */
  readonly pausable: PausableEngine;
  /** Null where the recipe turns it off. */
  readonly check: WeightCheck | null;
  readonly signal: AbortSignal;
}

/** Brings policy versions to the server that samples, checks that it computes with them, and takes old ones away. */
export class ServedPolicies {
  private readonly served: (ServedPolicy & { readonly name: string })[] = [];

  constructor(private readonly options: ServedPoliciesOptions) {}

  /** The newest version that the server has said it serves. */
  get newest(): ServedPolicy {
    const newest = this.served.at(-1);
    if (newest === undefined) throw new Error('the server serves no policy version yet');
    return newest;
  }

  /**
   * Brings the weights of a model to the server, unless it has them, and waits until the server says so and its logprobs are those of the
   * model. The version before stays, as turns under way need it.
   *
   * @throws EndpointError when the server refuses; PolicyError when the weights can't be written; CollectorError `WEIGHTS_DIFFER`
   */
  async serve(policyVersion: number, model: Transformer): Promise<void> {
    const { runId, delivery, pausable } = this.options;
    if (this.served.at(-1)?.policyVersion === policyVersion) return;
    const name = servedName(runId, policyVersion);
    const directory = join(this.options.directory, name);
    await this.write(directory, model);
    const change = () => this.change(policyVersion, model, { name, directory });
    await (delivery.turnsUnderWay === 'ended' ? pausable.whilePaused(change) : change());
    while (this.served.length > 2) await this.drop();
  }

  private async change(policyVersion: number, model: Transformer, files: DeliveredWeights): Promise<void> {
    const { delivery, check, signal } = this.options;
    const confirmed = await delivery.deliver(files, signal);
    await check?.require(policyVersion, model, { model: confirmed.model, signal });
    this.served.push({ policyVersion, model: confirmed.model, name: files.name });
  }

  /** A directory appears whole or not at all, so one that is there was written by another collector, or before a restart. */
  private async write(directory: string, model: Transformer): Promise<void> {
    if (await exists(directory)) return;
    const { delivery, baseModel, text } = this.options;
    if (delivery.form === 'adapter') await saveAdapter(directory, model, { baseModel });
    else await saveHuggingFaceModel(directory, model, { text, baseDirectory: baseModel });
  }

  private async drop(): Promise<void> {
    const { delivery, directory, signal } = this.options;
    const oldest = this.served.shift();
    if (oldest === undefined) return;
    await delivery.retire(oldest.name, signal);
    await rm(join(directory, oldest.name), { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
