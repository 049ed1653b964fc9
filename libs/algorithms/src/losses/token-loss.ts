import { checkFinite, checkResults } from '../layout/check.js';
import { requireFirst, requireOutput } from '../layout/output.js';
import type { PolicyLossInput, PolicyLossTerms } from './policy-loss.js';

/** A sum of results, and of their squares, below which each of them is a number of float32. */
const LARGEST_SUM = 2 ** 127;
const LARGEST_SQUARES = LARGEST_SUM ** 2;

/** Δ = logπ − logπ_prox is held inside ±this, so that no ratio overflows. */
export const LOG_RATIO_LIMIT = 20;

/** Result of a token's loss, reused from token to token so that the loop allocates nothing. */
export interface TokenTerm {
  /** ℓ_t. */
  loss: number;
  /** dℓ_t/dlogπ_t. */
  gradient: number;
  /** 1 when the token's gradient was clipped away or its ratio was held. */
  clipped: number;
}

/** ℓ_t of one token. `difference` is Δ before clamping. */
export type TokenLossFunction = (term: TokenTerm, t: number, difference: number, advantage: number) => void;

/**
 * Runs a per-token loss over all tokens, with the statistics every loss logs: `clipFraction` and `approximateKl`
 * (mean of logπ_prox − logπ, k1 of the step taken). It also finds inputs that are not finite and results beyond float32, as it sees
 * each of them anyway: a pass over every array before would cost a tenth of the whole.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` or `OVERFLOW` naming the array, the index and the value
 */
export function overTokens(input: PolicyLossInput, lossOf: TokenLossFunction): PolicyLossTerms {
  const { logprobs, proximalLogprobs, advantages, weights, importanceWeights = null } = input;
  const tokenLosses = requireOutput('tokenLosses', input.output?.tokenLosses, logprobs.length);
  const gradients = requireOutput('gradients', input.output?.gradients, logprobs.length);
  const clipped = clippedOutput(input);
  const term: TokenTerm = { loss: 0, gradient: 0, clipped: 0 };
  let loss = 0;
  let numTokens = 0;
  let numClipped = 0;
  let sumOfDifferences = 0;
  let poison = 0;
  let squares = 0;
  for (let t = 0; t < logprobs.length; t++) {
    const difference = logprobs[t] - proximalLogprobs[t];
    const factor = importanceWeights === null ? weights[t] : weights[t] * importanceWeights[t];
    poison += difference * advantages[t] + factor;
    lossOf(term, t, difference, advantages[t]);
    const gradient = factor * term.gradient;
    tokenLosses[t] = term.loss;
    gradients[t] = gradient;
    if (clipped !== null) clipped[t] = term.clipped;
    squares += term.loss * term.loss + gradient * gradient;
    loss += factor * term.loss;
    if (weights[t] !== 0) {
      numTokens += 1;
      numClipped += term.clipped;
      sumOfDifferences += difference;
    }
  }
  checkSums(input, { poison, squares, loss, tokenLosses, gradients });
  return { loss, tokenLosses, gradients, statistics: meansOver(numTokens, { numClipped, sumOfDifferences }) };
}

/** The statistics that every loss logs; 0 without a token. */
export function meansOver(
  numTokens: number,
  { numClipped, sumOfDifferences }: { readonly numClipped: number; readonly sumOfDifferences: number },
): PolicyLossTerms['statistics'] {
  const denominator = Math.max(1, numTokens);
  return { clipFraction: numClipped / denominator, approximateKl: -sumOfDifferences / denominator };
}

interface LossSums extends Pick<PolicyLossTerms, 'loss' | 'tokenLosses' | 'gradients'> {
  /** Over the inputs, so that it is not finite where one of them is not. */
  readonly poison: number;
  /** Of the token losses and the gradients. */
  readonly squares: number;
}

/**
 * Looks at every input and result where their sums say that one of them is not a number of float32.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` or `OVERFLOW` naming the array, the index and the value
 */
export function checkSums(
  { logprobs, proximalLogprobs, advantages, weights }: PolicyLossInput,
  { poison, squares, loss, tokenLosses, gradients }: LossSums,
): void {
  if (Number.isFinite(poison) && squares < LARGEST_SQUARES && Math.abs(loss) < LARGEST_SUM) return;
  checkFinite({ logprobs, proximalLogprobs, advantages, weights });
  checkResults({ tokenLosses, gradients, loss });
}

/** Where the caller wants to know which tokens are clipped; else null. @throws AlgorithmError `INVALID_ARGUMENT` for an array that is too short */
export function clippedOutput({ logprobs, output }: PolicyLossInput): Uint8Array | null {
  return output?.clipped ? requireFirst('clipped', output.clipped, logprobs.length) : null;
}

/** x held inside [least, most]. */
export function clamp(x: number, least: number, most: number): number {
  return x < least ? least : x > most ? most : x;
}
