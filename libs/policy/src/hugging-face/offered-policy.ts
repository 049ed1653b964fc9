import type { Transformer } from '../model/transformer.js';

/**
 * Where the trainer of a process offers its newest policy to the collector of the same process: at once after the last optimizer step, before
 * the policy has a file. Only the newest is kept, and its weights are shared, not copied.
 */
export class OfferedPolicy {
  private newest: { readonly policyVersion: number; readonly model: Transformer } | null = null;
  private readonly waiting = new Set<() => void>();

  /** Offers the current weights of `model`, which may change afterwards. */
  offer(policyVersion: number, model: Transformer): void {
    this.withdraw();
    this.newest = { policyVersion, model: model.clone() };
    for (const wake of this.waiting) wake();
  }

  /** Withdraws the offer: it will not be published. */
  withdraw(): void {
    this.newest?.model.dispose();
    this.newest = null;
  }

  /** The version on offer; −1 without one. */
  get version(): number {
    return this.newest?.policyVersion ?? -1;
  }

  /** The model of a version; null where it is not on offer. It belongs to this object. */
  modelOf(policyVersion: number): Transformer | null {
    return this.newest?.policyVersion === policyVersion ? this.newest.model : null;
  }

  /** A signal that aborts at the next offer, or with `signal`. */
  nextOffer(signal: AbortSignal): AbortSignal {
    const offered = new AbortController();
    const wake = (): void => {
      this.waiting.delete(wake);
      signal.removeEventListener('abort', wake);
      offered.abort();
    };
    this.waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    return offered.signal;
  }
}
