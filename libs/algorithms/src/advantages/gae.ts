import { AlgorithmError } from '../errors.js';
import {
  checkFinite,
  checkLength,
  checkMask,
  checkOffsets,
  checkResults,
  checkUnitInterval,
  checkValues,
} from '../layout/check.js';
import { requireOutput } from '../layout/output.js';
import type { AdvantageBatch, Columns } from './advantage-batch.js';

export interface GaeInput
  extends
    Columns<'offsets' | 'rewards' | 'values'>,
    Pick<AdvantageBatch, 'truncated' | 'finalValues' | 'output'> {
  /** 1 where the policy sampled the token `[N]`; null: everywhere, the layout of a training batch. */
  readonly mask?: Uint8Array | null;
  /** Discount per token, in [0, 1]. */
  readonly gamma: number;
  /** Decay of the eligibility, in [0, 1]: 0 is one-step TD, 1 is Monte Carlo minus the value. */
  readonly lambda: number;
}

export interface GaeResult {
  /** `[N]`, 0 where the mask is 0. */
  readonly advantages: Float32Array;
  /** Targets of the critic: A + V, before any whitening `[N]`, 0 where the mask is 0. */
  readonly returns: Float32Array;
}

/**
 * Generalised advantage estimation (Schulman et al., arXiv:1506.02438, eq. 11–16), backwards over each episode:
 *
 *     δ_t = r_t + γ V_{t+1} − V_t
 *     A_t = δ_t + γλ A_{t+1}
 *
 * The recursion runs over the whole episode, across the boundaries of its sequences. After the last token,
 * V is 0 where the environment ended the episode and `finalValues` where we cut it. Over tokens that the policy
 * did not sample (mask 0), next value and accumulator are carried unchanged: the same result as leaving them out.
 * A reward on such a token is not lost either, which differs from verl: it joins the sampled token before it, or the first
 * one of the episode where there is none before, undiscounted. An episode without a sampled token gives nothing.
 *
 * Empty episodes give nothing. Values at mask 0 are not read. Doubles inside, float32 in and out.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for arrays of unequal length, values that are not finite, offsets that
 * fall, γ or λ outside [0, 1]; `MISSING_INPUT` when an episode is truncated and there are no `finalValues`; `OVERFLOW` for a result
 * beyond float32
 */
export function gae(input: GaeInput): GaeResult {
  const { offsets, rewards, values, gamma, lambda } = input;
  checkOffsets('offsets', offsets, rewards.length);
  checkLength({ values }, rewards.length);
  checkUnitInterval({ gamma, lambda });
  const mask = input.mask ?? null;
  if (mask !== null) checkMask('mask', mask, rewards.length);
  const bootstraps = bootstrapValues(offsets.length - 1, input);

  const advantages = requireOutput('advantages', input.output?.advantages, rewards.length);
  const returns = requireOutput('returns', input.output?.returns, rewards.length);
  const result = { advantages, returns };
  const sum =
    mask === null ? overAll(input, bootstraps, result) : overSampled(input, mask, bootstraps, result);
  // A value that is not finite makes the sum not finite. Searching for it only then saves two passes over the arrays.
  if (!Number.isFinite(sum)) {
    checkFinite({ rewards, values });
    checkResults({ advantages, returns });
  }
  return result;
}

/** Where every token was sampled. Gives a sum that is not finite where an input or a result is not. */
function overAll(
  { offsets, rewards, values, gamma, lambda }: GaeInput,
  bootstraps: Float32Array | null,
  { advantages, returns }: GaeResult,
): number {
  const decay = gamma * lambda;
  let sum = 0;
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let nextValue = bootstraps === null ? 0 : bootstraps[episode];
    let advantage = 0;
    for (let t = offsets[episode + 1] - 1; t >= offsets[episode]; t--) {
      const value = values[t];
      advantage = rewards[t] + gamma * nextValue - value + decay * advantage;
      nextValue = value;
      const target = advantage + value;
      advantages[t] = advantage;
      returns[t] = target;
      sum += Math.fround(advantage) + Math.fround(target);
    }
  }
  return sum;
}

/** Where `mask` says which tokens were sampled. Gives a sum that is not finite where an input or a result is not. */
function overSampled(
  { offsets, rewards, values, gamma, lambda }: GaeInput,
  mask: Uint8Array,
  bootstraps: Float32Array | null,
  { advantages, returns }: GaeResult,
): number {
  advantages.fill(0);
  returns.fill(0);
  const decay = gamma * lambda;
  let sum = 0;
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let nextValue = bootstraps === null ? 0 : bootstraps[episode];
    let advantage = 0;
    let carriedReward = 0;
    let firstSampled = -1;
    for (let t = offsets[episode + 1] - 1; t >= offsets[episode]; t--) {
      if (mask[t] === 0) {
        carriedReward += rewards[t];
        continue;
      }
      const value = values[t];
      advantage = rewards[t] + carriedReward + gamma * nextValue - value + decay * advantage;
      carriedReward = 0;
      nextValue = value;
      const target = advantage + value;
      advantages[t] = advantage;
      returns[t] = target;
      firstSampled = t;
      sum += Math.fround(advantage) + Math.fround(target);
    }
    sum += carriedReward;
    if (firstSampled === -1) continue;
    const target = advantage + carriedReward + nextValue;
    advantages[firstSampled] = advantage + carriedReward;
    returns[firstSampled] = target;
    sum += Math.fround(advantage + carriedReward) + Math.fround(target);
  }
  return sum;
}

/**
 * Value of the state after the last token of each episode: `finalValues` where truncated, else 0. Null when no
 * episode is truncated.
 *
 * @throws AlgorithmError as `gae` does
 */
export function bootstrapValues(
  numEpisodes: number,
  { truncated = null, finalValues = null }: Pick<GaeInput, 'truncated' | 'finalValues'>,
): Float32Array | null {
  if (truncated === null) return null;
  checkMask('truncated', truncated, numEpisodes);
  const firstTruncated = truncated.indexOf(1);
  if (firstTruncated === -1) return null;
  if (finalValues === null) {
    throw new AlgorithmError(
      'MISSING_INPUT',
      `episode ${firstTruncated} is truncated, so finalValues is needed to bootstrap from; it is null`,
    );
  }
  checkValues({ finalValues }, numEpisodes);
  return finalValues.map((value, episode) => (truncated[episode] === 1 ? value : 0));
}
