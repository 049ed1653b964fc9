import type { FileRef } from '../checkpoints/file-ref.js';
import type { Transformer } from '../model/transformer.js';

/** A policy version and the file of its weights. */
export interface PublishedWeights {
  readonly policyVersion: number;
  readonly weights: FileRef;
}

/**
 * Where a collector finds the policy that a trainer has made and not yet published. Only the newest is on offer. Whether it is ever published is
 * open, and by then it may be another one, as where the trainer was restarted with other settings.
 */
export abstract class PolicyOffers {
  private readonly waiting = new Map<
    AbortSignal,
    { readonly signal: AbortSignal; readonly wake: () => void }
  >();

  /** The version on offer; −1 without one. */
  abstract get version(): number;

  /** Hash of the weights on offer; null where nobody has named them yet. */
  abstract get sha256(): string | null;

  /** Makes `model` the policy on offer, or opens it where there is no model yet. Null where this version is not on offer, or no longer. */
  abstract take(policyVersion: number, model: Transformer | null): Promise<Transformer | null>;

  /** Whether a published policy is the one on offer. */
  has({ policyVersion, weights }: PublishedWeights): boolean {
    return this.version === policyVersion && (this.sha256 ?? weights.sha256) === weights.sha256;
  }

  /** A signal that aborts at the next offer, or with `signal`: the same one until then. */
  nextOffer(signal: AbortSignal): AbortSignal {
    const waiting = this.waiting.get(signal);
    if (waiting) return waiting.signal;
    const next = new AbortController();
    const wake = (): void => {
      this.waiting.delete(signal);
      signal.removeEventListener('abort', wake);
      next.abort();
    };
    this.waiting.set(signal, { signal: next.signal, wake });
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    return next.signal;
  }

  protected offered(): void {
    for (const { wake } of this.waiting.values()) wake();
  }
}
