import type { WireRecord, WireStep } from '@retrace/recording';
import { known } from './fields.js';

/** Facts of the tokens of a dump that only its user knows; missing = unknown. */
export interface StatedFacts {
  /** Of sampling without top-k and top-p. */
  readonly temperature?: number;
  readonly logprobMode?: NonNullable<WireStep['logprobMode']>;
  readonly tokenizerHash?: string;
}

/** A record with what the user states of its tokens, where the dump says nothing: policy gradients train on no tokens without it. */
export function withStatedFacts(record: WireRecord, facts: StatedFacts): WireRecord {
  if (record.type !== 'step' || record.tokens == null) return record;
  const { temperature, logprobMode, tokenizerHash } = facts;
  const hasLogprobs = record.tokens.logprobs != null;
  return known<WireStep>({
    ...record,
    sampling: record.sampling ?? (temperature === undefined ? undefined : { temperature }),
    logprobMode: record.logprobMode ?? (hasLogprobs ? logprobMode : undefined),
    tokenizerHash: record.tokenizerHash ?? tokenizerHash,
  });
}
