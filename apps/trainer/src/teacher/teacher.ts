import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';

/** Tokens that a policy sampled at temperature 1. */
export interface AskedTokens {
  readonly columns: Pick<EpisodeColumns, 'tokenOffsets' | 'actionMask'>;
  readonly batch: TokenBatch;
  /** [A] 1 for the action tokens that are asked about. */
  readonly mask: Uint8Array;
}

/** A teacher outside the engine: a server, or the recorded answers of one. */
export interface Teacher {
  /**
   * [A] log π of the action tokens under the teacher, each given its prefix, in nats: 0 for those that are not asked about, NaN where the teacher's
   * answer is unknown.
   */
  read(asked: AskedTokens): Promise<Float32Array>;
}
