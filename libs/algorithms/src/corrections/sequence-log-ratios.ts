import { checkLogprobs, checkMask, checkOffsets } from '../layout/check.js';
import { LOG_RATIO_LIMIT, clamp } from '../losses/token-loss.js';

/** The two policies of rollout correction over the action tokens of sequences. ρ_b = π_prox/π_b. */
export interface CorrectionInput {
  /** Sequences over action tokens `[S + 1]`. */
  readonly offsets: Int32Array;
  /** logπ at the start of the update, recomputed by the trainer `[N]`. */
  readonly proximalLogprobs: Float32Array;
  /** logπ recorded at sampling, under the transform that was sampled from `[N]`. */
  readonly behaviorLogprobs: Float32Array;
  /** 0 for tokens that do not count `[N]`; null: all count. */
  readonly keep?: Uint8Array | null;
}

/** @throws AlgorithmError `INVALID_ARGUMENT` for arrays that do not fit or logprobs that are not finite (a missing one is NaN) or over 0 */
export function checkCorrectionInput({
  offsets,
  proximalLogprobs,
  behaviorLogprobs,
  keep = null,
}: CorrectionInput): void {
  checkOffsets('offsets', offsets, proximalLogprobs.length);
  checkLogprobs({ proximalLogprobs, behaviorLogprobs }, proximalLogprobs.length);
  if (keep !== null) checkMask('keep', keep, proximalLogprobs.length);
}

/** log ρ_b of a token, clamped to ±20. */
export function tokenLogRatio({ proximalLogprobs, behaviorLogprobs }: CorrectionInput, t: number): number {
  return clamp(proximalLogprobs[t] - behaviorLogprobs[t], -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
}

export interface SequenceLogRatios {
  /** Σ_t log ρ_t of each sequence, before any clamp `[S]`. */
  readonly sums: Float64Array;
  /** Counted tokens of each sequence `[S]`. */
  readonly counts: Int32Array;
}

/** Sums of unclamped log ratios over the counted tokens of each sequence. */
export function sequenceLogRatios(input: CorrectionInput): SequenceLogRatios {
  const { offsets, proximalLogprobs, behaviorLogprobs, keep = null } = input;
  const sums = new Float64Array(offsets.length - 1);
  const counts = new Int32Array(offsets.length - 1);
  for (let sequence = 0; sequence < sums.length; sequence++) {
    for (let t = offsets[sequence]; t < offsets[sequence + 1]; t++) {
      if (keep !== null && keep[t] === 0) continue;
      sums[sequence] += proximalLogprobs[t] - behaviorLogprobs[t];
      counts[sequence] += 1;
    }
  }
  return { sums, counts };
}
