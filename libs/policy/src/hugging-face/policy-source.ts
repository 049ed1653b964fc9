import type { CheckpointFiles, FileRef } from '../checkpoints/checkpoint-files.js';
import type { Transformer } from '../model/transformer.js';
import type { OfferedPolicy } from './offered-policy.js';
import { loadPolicyCheckpoint, openPolicyCheckpoint } from './policy-checkpoint.js';

/** A policy version and the file of its weights. */
interface PublishedWeights {
  readonly policyVersion: number;
  readonly weights: FileRef;
}

/** The current policy's weights on this process's device: one model, swapped in place from version to version. */
export class PolicySource {
  private model: Transformer | null = null;
  private loadedVersion = -1;

  /** @param offered policies that the trainer of this process offers; they are taken without a file */
  constructor(
    private readonly checkpoints: CheckpointFiles,
    private readonly offered?: OfferedPolicy,
  ) {}

  get version(): number {
    return this.loadedVersion;
  }

  /** Loads a published version, unless it is loaded already. The same `Transformer` is returned every time. */
  async load(policy: PublishedWeights): Promise<Transformer> {
    if (this.model && this.loadedVersion === policy.policyVersion) return this.model;
    const offered = this.take(policy.policyVersion);
    if (offered) return offered;
    if (this.model) await loadPolicyCheckpoint(this.model, this.checkpoints, policy.weights);
    else this.model = await openPolicyCheckpoint(this.checkpoints, policy.weights);
    this.loadedVersion = policy.policyVersion;
    return this.model;
  }

  /** Takes over an offered version; null where it is not on offer. */
  take(policyVersion: number): Transformer | null {
    const offered = this.offered?.modelOf(policyVersion);
    if (!offered) return null;
    if (this.model) this.model.copyTrained(offered);
    else this.model = offered.clone();
    this.loadedVersion = policyVersion;
    return this.model;
  }
}
