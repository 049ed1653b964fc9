import type { Transformer } from '../model/transformer.js';
import { PolicyOffers } from './policy-offers.js';

/**
 * Where the trainer of a process offers its newest policy to the collector of the same process: at once after the last optimizer step, before
 * the policy has a file. Its weights are shared, not copied.
 */
export class OfferedPolicy extends PolicyOffers {
  private newest: { readonly policyVersion: number; readonly model: Transformer } | null = null;
  readonly sha256 = null;

  /** Offers the current weights of `model`, which may change afterwards. */
  offer(policyVersion: number, model: Transformer): void {
    this.withdraw();
    this.newest = { policyVersion, model: model.clone() };
    this.offered();
  }

  /** Withdraws the offer: it will not be published. */
  withdraw(): void {
    this.newest?.model.dispose();
    this.newest = null;
  }

  get version(): number {
    return this.newest?.policyVersion ?? -1;
  }

  take(policyVersion: number, model: Transformer | null): Promise<Transformer | null> {
    if (this.newest?.policyVersion !== policyVersion) return Promise.resolve(null);
    if (!model) return Promise.resolve(this.newest.model.clone());
    model.copyTrained(this.newest.model);
    return Promise.resolve(model);
  }
}
