import { AlgorithmError } from '../errors.js';
import {
  checkLength,
  checkLogprobs,
  checkName,
  checkOffsets,
  checkPositive,
  checkResults,
} from '../layout/check.js';

export const PREFERENCE_LOSSES = ['dpo', 'ipo'] as const;
/**
 * With h = s(chosen) − s(rejected), the difference of what the policy has gained on the reference:
 *
 * - `dpo`, direct preference optimisation (Rafailov et al., arXiv:2305.18290, eq. 7): ℓ = −log σ(βh).
 * - `ipo`, identity preference optimisation (Azar et al., arXiv:2310.12036, eq. 17): ℓ = (h − 1/(2β))².
 */
export type PreferenceLossName = (typeof PREFERENCE_LOSSES)[number];

export interface PreferenceLossInput {
  /** Episodes over action tokens `[E + 1]`; those of no pair have no gradient. */
  readonly offsets: Int32Array;
  /** logπ of the current policy `[N]`; gradients are with respect to it. */
  readonly logprobs: Float32Array;
  /** logπ of the reference policy, fixed `[N]`. */
  readonly referenceLogprobs: Float32Array;
  /** The preferred episode of each pair `[P]`. */
  readonly chosen: Int32Array;
  /** The other one `[P]`. */
  readonly rejected: Int32Array;
}

export interface PreferenceLossOptions {
  readonly loss: PreferenceLossName;
  /** β > 0: how strongly the reference policy holds the current one. */
  readonly beta: number;
  /** For `dpo`, in [0, 0.5): share of the pairs that count as labelled the wrong way round (conservative DPO). Default 0. */
  readonly labelSmoothing?: number;
  /** Whether s is a mean over the action tokens of an episode, as TRL has it for IPO, and not their sum, as published. Default false. */
  readonly lengthNormalized?: boolean;
  /** Pairs of the whole batch, which the loss is a mean over, so that parts of it add up; null: those given. */
  readonly numPairs?: number | null;
}

export interface PreferenceLossTerms {
  /** Σ_p ℓ_p over the number of pairs; 0 without a pair. */
  readonly loss: number;
  /** ℓ_p of each pair `[P]`. */
  readonly pairLosses: Float32Array;
  /** Derivative of `loss` with respect to each logprob `[N]`. */
  readonly gradients: Float32Array;
  /** Implicit rewards β·s of the chosen episodes `[P]`. */
  readonly chosenRewards: Float32Array;
  /** Implicit rewards β·s of the rejected episodes `[P]`. */
  readonly rejectedRewards: Float32Array;
}

/**
 * Value and gradient of a loss over pairs of episodes, where s of an episode is the sum of logπ − logπ_ref over its action tokens:
 *
 *     dℓ/ds(chosen) = −dℓ/ds(rejected) = −β(1 − ε)σ(−βh) + βε·σ(βh) for `dpo` with label smoothing ε, 2(h − 1/(2β)) for `ipo`
 *
 * which every token of the episode has. An episode of several pairs has the sum of their gradients, one without tokens has s = 0.
 *
 * @throws AlgorithmError `UNKNOWN_NAME` for another loss; `INVALID_ARGUMENT` for arrays that do not fit, logprobs that are not finite or
 * over 0, options outside their range; `OVERFLOW` for a loss or gradient beyond float32
 */
export function preferenceLoss(
  input: PreferenceLossInput,
  options: PreferenceLossOptions,
): PreferenceLossTerms {
  const { offsets, logprobs, chosen, rejected } = input;
  const { beta, lengthNormalized = false } = options;
  checkPreferenceLoss(input, options);
  const numPairs = options.numPairs ?? chosen.length;
  const gains = computeGains(input, lengthNormalized);
  const slopes = new Float64Array(offsets.length - 1);
  const pairLosses = new Float32Array(chosen.length);
  let loss = 0;
  for (let pair = 0; pair < chosen.length; pair++) {
    const { value, slope } = computeTerm(gains[chosen[pair]] - gains[rejected[pair]], options);
    pairLosses[pair] = value;
    loss += value / numPairs;
    slopes[chosen[pair]] += slope / numPairs;
    slopes[rejected[pair]] -= slope / numPairs;
  }
  const gradients = new Float32Array(logprobs.length);
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    const numTokens = offsets[episode + 1] - offsets[episode];
    gradients.fill(
      lengthNormalized ? slopes[episode] / numTokens : slopes[episode],
      offsets[episode],
      offsets[episode + 1],
    );
  }
  const rewardsOf = (episodes: Int32Array) => Float32Array.from(episodes, (episode) => beta * gains[episode]);
  const terms = {
    loss,
    pairLosses,
    gradients,
    chosenRewards: rewardsOf(chosen),
    rejectedRewards: rewardsOf(rejected),
  };
  checkResults(terms);
  return terms;
}

/** ℓ of a pair, and dℓ/dh. */
function computeTerm(
  difference: number,
  { loss, beta, labelSmoothing = 0 }: PreferenceLossOptions,
): { readonly value: number; readonly slope: number } {
  if (loss === 'ipo') {
    const distance = difference - 1 / (2 * beta);
    return { value: distance * distance, slope: 2 * distance };
  }
  const margin = beta * difference;
  const value = (1 - labelSmoothing) * softplus(-margin) + labelSmoothing * softplus(margin);
  return {
    value,
    slope: beta * (labelSmoothing * sigmoid(margin) - (1 - labelSmoothing) * sigmoid(-margin)),
  };
}

/** log(1 + e^x) = −log σ(−x), which does not overflow. */
function softplus(x: number): number {
  return Math.max(0, x) + Math.log1p(Math.exp(-Math.abs(x)));
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** s of each episode `[E]`. */
function computeGains(
  { offsets, logprobs, referenceLogprobs }: PreferenceLossInput,
  lengthNormalized: boolean,
): Float64Array {
  const gains = new Float64Array(offsets.length - 1);
  for (let episode = 0; episode < gains.length; episode++) {
    for (let t = offsets[episode]; t < offsets[episode + 1]; t++)
      gains[episode] += logprobs[t] - referenceLogprobs[t];
    if (lengthNormalized) gains[episode] /= Math.max(1, offsets[episode + 1] - offsets[episode]);
  }
  return gains;
}

function checkPreferenceLoss(
  { offsets, logprobs, referenceLogprobs, chosen, rejected }: PreferenceLossInput,
  { loss, beta, labelSmoothing = 0, numPairs = null }: PreferenceLossOptions,
): void {
  const refuse = (problem: string): never => {
    throw new AlgorithmError('INVALID_ARGUMENT', problem);
  };
  checkName('loss', loss, PREFERENCE_LOSSES);
  checkOffsets('offsets', offsets, logprobs.length);
  checkLogprobs({ logprobs, referenceLogprobs }, logprobs.length);
  checkLength({ rejected }, chosen.length);
  for (const [name, episodes] of Object.entries({ chosen, rejected })) {
    const bad = episodes.findIndex((episode) => episode < 0 || episode >= offsets.length - 1);
    if (bad !== -1)
      refuse(`${name}[${bad}] is ${episodes[bad]}, must be an episode in [0, ${offsets.length - 1})`);
  }
  checkPositive({ beta, ...(numPairs !== null && { numPairs }) });
  if (!(labelSmoothing >= 0 && labelSmoothing < 0.5))
    refuse(`labelSmoothing is ${labelSmoothing}, must be in [0, 0.5)`);
  if (labelSmoothing !== 0 && loss !== 'dpo')
    refuse(`labelSmoothing is ${labelSmoothing}, must be 0 with the loss ${loss}`);
}
