import type { TeacherTop } from '@retrace/policy';
import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';

/** Tokens that a policy sampled at temperature 1. */
export interface AskedTokens {
  readonly columns: Pick<EpisodeColumns, 'tokenOffsets' | 'actionMask'>;
  readonly batch: TokenBatch;
  /** [A] 1 for the action tokens that are asked about. */
  readonly mask: Uint8Array;
}

export interface TeacherAnswer {
  /** [A] log π of the action tokens under the teacher, each given its prefix, in nats: 0 for those that are not asked about, NaN where it is unknown. */
  readonly logprobs: Float32Array;
  /** The teacher's likeliest tokens at the action tokens [A] that are asked about; null where the recipe wants none. */
  readonly top: TeacherTop | null;
}

/** A teacher outside the engine: a server, or the recorded answers of one. */
export interface Teacher {
  read(asked: AskedTokens): Promise<TeacherAnswer>;
}
