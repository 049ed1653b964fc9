import type { PolicyText, Transformer } from '@retrace/policy';

/** A policy to serve, whose weights may change. */
export interface PolicySupply {
  /** Name of the model in the API. */
  readonly name: string;
  readonly model: Transformer;
  readonly text: PolicyText;
  /** null for weights that no run published. */
  readonly runId: string | null;
  /** Version of the weights in `model`; null for weights that no run published. */
  readonly policyVersion: number | null;
  /** Most tokens of a context. */
  readonly maxTokens: number;
  /** Whether an answer is one token, as in runs with `context.maxNewTokens` 1: its end is not marked by a token. */
  readonly isSingleToken: boolean;
  /**
   * Brings the weights in `model` to the newest version; true if they have changed. Called between forward passes only. A version
   * that can't be loaded is warned of, and the weights stay as they are.
   */
  refresh(): Promise<boolean>;
  /** Calls `listener` when there may be a newer version. */
  onNewer(listener: () => void): void;
  close(): Promise<void>;
}
