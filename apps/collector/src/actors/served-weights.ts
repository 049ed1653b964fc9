import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeliveredWeights, WeightDelivery } from '@retrace/endpoints';
import { saveAdapter, saveHuggingFaceModel, type PolicyText, type Transformer } from '@retrace/policy';
import { servedName } from './endpoint-actor.js';
import { ownLogprobs, type CheckedPolicy } from './weight-check.js';

/** A policy version as servers get it, which stays as it is when the collector's own weights move on. */
export type DeliveredPolicy = CheckedPolicy & Pick<DeliveredWeights, 'name' | 'location'>;

interface ServedWeightsOptions {
  readonly runId: string;
  /** Where the servers read weights from. */
  readonly directory: string;
  /** Directory of the model that the policy started from. */
  readonly baseModel: string;
  readonly text: PolicyText;
  readonly form: WeightDelivery['form'];
  /** A fixed context of the policy's tokens; empty where servers are not checked. */
  readonly checkedTokenIds: readonly number[];
}

/** The weights of policy versions as files that all servers of a run read. */
export class ServedWeights {
  /** Names of what was prepared, the newest last. */
  private prepared: string[] = [];

  constructor(private readonly options: ServedWeightsOptions) {}

  /**
   * Writes the weights of a model for its servers, and computes what they are checked against.
   *
   * @param location where the engine that made the weights keeps them
   * @throws PolicyError when the weights can't be written
   */
  async prepare(policyVersion: number, model: Transformer, location: string): Promise<DeliveredPolicy> {
    const { runId, checkedTokenIds } = this.options;
    const name = servedName(runId, policyVersion);
    await this.write(this.filesOf({ name }).directory, model);
    this.prepared = [...this.prepared.filter((other) => other !== name), name];
    return { policyVersion, name, location, ownLogprobs: await ownLogprobs(model, checkedTokenIds) };
  }

  filesOf({ name, location }: Pick<DeliveredPolicy, 'name' | 'location'>): DeliveredWeights {
    return { name, location, directory: join(this.options.directory, name) };
  }

  /** Removes the files of all versions but the newest two and those in use. */
  async removeExcept(inUse: ReadonlySet<string>): Promise<void> {
    const removed = this.prepared.slice(0, -2).filter((name) => !inUse.has(name));
    this.prepared = this.prepared.filter((name) => !removed.includes(name));
    for (const name of removed) await rm(this.filesOf({ name }).directory, { recursive: true, force: true });
  }

  /** A directory appears whole or not at all, so one that is there was written by another collector, or before a restart. */
  private async write(directory: string, model: Transformer): Promise<void> {
    const { form, baseModel, text } = this.options;
    if (form === 'location' || (await exists(directory))) return;
    if (form === 'adapter') await saveAdapter(directory, model, { baseModel });
    else await saveHuggingFaceModel(directory, model, { text, baseDirectory: baseModel });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
