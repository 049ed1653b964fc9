import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';

interface LogprobRules {
  /** Temperature at which the trainer computes its own logprobs. */
  readonly temperature: number;
  /** [E] 1 for episodes that are not trained on; null: none. */
  readonly exempt?: Uint8Array | null;
}

/**
 * Refuses a batch with any trained token whose behavior logprob is missing, or is not that of a sample drawn at the temperature at which the trainer
 * computes its own logprobs.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` naming the episode, the step and the rule
 */
export function assertAccountedLogprobs(
  columns: EpisodeColumns,
  batch: TokenBatch,
  { temperature, exempt = null }: LogprobRules,
): void {
  const refuse = (episode: number, step: number, problem: string): never => {
    throw new TrainerError(
      'UNACCOUNTED_LOGPROBS',
      `episode ${columns.episodeIds[episode]}, step ${step}: ${problem}`,
    );
  };
  for (let e = 0; e < columns.episodeIds.length; e++) {
    if (exempt?.[e] === 1) continue;
    for (let s = columns.stepOffsets[e]; s < columns.stepOffsets[e + 1]; s++) {
      if (columns.greedy[s] === 1)
        refuse(
          e,
          columns.steps[s],
          'chosen greedily or among the likeliest tokens only (top-k, top-p); must be sampled from all tokens',
        );
      if (Math.abs(columns.temperatures[s] - temperature) > 1e-6 || Number.isNaN(columns.temperatures[s])) {
        refuse(
          e,
          columns.steps[s],
          `sampled at temperature ${shortest(columns.temperatures[s])}; must be ${temperature}`,
        );
      }
    }
    for (let a = batch.episodeActionOffsets[e]; a < batch.episodeActionOffsets[e + 1]; a++) {
      const logprob = batch.behaviorLogprobs[batch.actionTokens[a]];
      if (!(logprob <= 1e-5))
        refuse(e, batch.actionStep[a], `behavior logprob is ${logprob}; must be finite and ≤ 0`);
    }
  }
}

/** A number of a float32 column as it was written: 0.7, not 0.699999988079071. */
const shortest = (value: number): number => Number(value.toPrecision(7));

interface RatioCheck {
  /** Largest |π_trainer / π_behavior − 1| over the tokens compared; NaN when there was none. */
  readonly maxDeviation: number;
  /** Mean of the same values, each limited to 1, so that no single token decides. */
  readonly meanDeviation: number;
  readonly numTokens: number;
}

/** Largest number of versions that a token's policy is older than the one that the update starts from, among policies of this run. */
export function stalestToken(
  { actionTokens, policyVersions }: Pick<TokenBatch, 'actionTokens' | 'policyVersions'>,
  policyVersionIn: number,
): number {
  return actionTokens.reduce(
    (max, n) => (policyVersions[n] < 0 ? max : Math.max(max, policyVersionIn - policyVersions[n])),
    0,
  );
}

/**
 * Compares the trainer's logprobs with the collector's on the tokens that `policyVersion` itself sampled.
 *
 * @param scoredMask [N] 1 where `logprobs` holds a value
 */
export function compareOnPolicy(
  batch: TokenBatch,
  logprobs: Float32Array,
  policyVersion: number,
  scoredMask: Uint8Array,
): RatioCheck {
  let maxDeviation = 0;
  let sum = 0;
  let numTokens = 0;
  for (const n of batch.actionTokens) {
    if (scoredMask[n] === 0 || batch.policyVersions[n] !== policyVersion) continue;
    const deviation = Math.abs(Math.exp(logprobs[n] - batch.behaviorLogprobs[n]) - 1);
    maxDeviation = Math.max(maxDeviation, deviation);
    sum += Math.min(deviation, 1);
    numTokens++;
  }
  return {
    maxDeviation: numTokens > 0 ? maxDeviation : Number.NaN,
    meanDeviation: sum / numTokens,
    numTokens,
  };
}
