import type { CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import type { Transformer } from '../model/transformer.js';
import { loadPolicyCheckpoint, openPolicyCheckpoint } from './policy-checkpoint.js';
import type { PolicyOffers, PublishedWeights } from './policy-offers.js';

/** The current policy's weights on this process's device: one model, swapped in place from version to version. */
export class PolicySource {
  private model: Transformer | null = null;
  private loadedVersion = -1;
  /** Hash of the loaded weights; null where they had no file yet. */
  private loadedSha256: string | null = null;

  /** @param offers policies that are not published yet */
  constructor(
    private readonly checkpoints: CheckpointFiles,
    private readonly offers?: PolicyOffers,
  ) {}

  get version(): number {
    return this.loadedVersion;
  }

  /** Whether a published version is the one that is loaded. */
  has({ policyVersion, weights }: PublishedWeights): boolean {
    return this.loadedVersion === policyVersion && (this.loadedSha256 ?? weights.sha256) === weights.sha256;
  }

  /** Loads a published version, unless it is loaded already. The same `Transformer` is returned every time. */
  async load(policy: PublishedWeights): Promise<Transformer> {
    const { policyVersion, weights } = policy;
    if (this.model && this.has(policy)) return this.model;
    const offered = this.offers?.has(policy) ? await this.take(policyVersion) : null;
    if (offered) return offered;
    if (this.model) await loadPolicyCheckpoint(this.model, this.checkpoints, weights);
    else this.model = await openPolicyCheckpoint(this.checkpoints, weights);
    this.loadedVersion = policyVersion;
    this.loadedSha256 = weights.sha256;
    return this.model;
  }

  /** Takes over an offered version; null where it is not on offer. */
  async take(policyVersion: number): Promise<Transformer | null> {
    const sha256 = this.offers?.sha256 ?? null;
    // An offer that fails half-way has changed some of the weights.
    this.loadedVersion = -1;
    const offered = (await this.offers?.take(policyVersion, this.model)) ?? null;
    if (!offered) return null;
    this.model = offered;
    this.loadedVersion = policyVersion;
    this.loadedSha256 = sha256;
    return offered;
  }
}
