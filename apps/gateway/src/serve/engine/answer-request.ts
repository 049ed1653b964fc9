import type { FinishedTurn, TurnColumns, TurnRequest } from '@retrace/policy';

/** One answer to generate. */
export type AnswerRequest = Omit<TurnRequest, 'slot' | 'keptPrefixTokens'>;

/** New tokens of one of the answers that were asked for together. */
export interface SampledTokens {
  /** Position of the answer among them. */
  readonly answer: number;
  /** The new tokens only; at least one. */
  readonly columns: TurnColumns;
  /** null while the answer goes on. */
  readonly stopReason: FinishedTurn['stopReason'] | null;
}
