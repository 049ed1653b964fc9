import {
  checkFinite,
  checkPositive,
  checkResults,
  checkUnitInterval,
  checkValues,
  type NumericArray,
} from '../layout/check.js';
import { areEqualReturns, countGroups, momentsOfGroups } from '../layout/groups.js';
import { checkGroupInput, type GroupAdvantages, type GroupInput } from './grpo.js';

/*
 * Weights of imitation instead of advantages: with the loss `gpg`, −w·logπ, they are maximum likelihood of the better part of the data. None of
 * them reads the logprobs of the policy that acted, so they suit stored episodes of any origin.
 */

/**
 * Best of n, for distillation (RAFT; Dong et al., arXiv:2304.06767): w = 1 for every episode with the largest return of its group, up to rounding,
 * and 0 for the others. So a group whose returns are all equal counts as a whole, and a group of one is the best of one.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for returns that are not finite
 */
export function bestOfN(input: GroupInput): GroupAdvantages {
  checkGroupInput(input);
  const { returns, groupIds } = input;
  const groups = momentsOfGroups(returns, groupIds);
  const best = new Float64Array(returns.length).fill(-Infinity);
  for (let i = 0; i < returns.length; i++) best[groupIds[i]] = Math.max(best[groupIds[i]], returns[i]);
  const advantages = new Float32Array(returns.length);
  for (let i = 0; i < returns.length; i++)
    advantages[i] = Number(areEqualReturns(returns[i], best[groupIds[i]]));
  return { advantages, ...countGroups(groups) };
}

/**
 * Filtered behavior cloning, %BC (Chen et al., arXiv:2106.01345, §5.1): w = 1 for the episodes whose return is at least that of the
 * ⌈topFraction·E⌉-th best of the batch, and larger than the smallest of the batch; 0 for the others. Returns that are all equal up to rounding have no
 * worse part, so all weigh 1. With a fraction of 1 every episode weighs 1: plain behavior cloning. With a fraction of 0 none does.
 *
 * @returns [E]
 * @throws AlgorithmError `INVALID_ARGUMENT` for returns that are not finite, a fraction outside [0, 1]
 */
export function topReturns(
  { returns }: { readonly returns: NumericArray },
  { topFraction }: { readonly topFraction: number },
): Float32Array {
  checkValues({ returns }, returns.length);
  checkUnitInterval({ topFraction });
  const numKept = Math.ceil(topFraction * returns.length);
  const advantages = new Float32Array(returns.length);
  if (topFraction === 1) return advantages.fill(1);
  if (numKept === 0) return advantages;
  const bar = Float64Array.from(returns).sort()[returns.length - numKept];
  const isLeast = leastOfBatch(returns);
  for (let i = 0; i < returns.length; i++) advantages[i] = Number(returns[i] >= bar && !isLeast(returns[i]));
  return advantages;
}

/** Tells the smallest return of a batch, where others are larger; where all are equal, none is. */
function leastOfBatch(returns: NumericArray): (value: number) => boolean {
  let [least, largest] = [Infinity, -Infinity];
  for (const value of returns) {
    least = Math.min(least, value);
    largest = Math.max(largest, value);
  }
  if (areEqualReturns(least, largest)) return () => false;
  return (value) => areEqualReturns(value, least);
}

/**
 * Advantage-weighted regression (Peng et al., arXiv:1910.00177, eq. 3 and §5): w_t = min(exp(A_t/β), maxWeight) with A = G − V.
 *
 * @param advantages [N] G − V
 * @returns [N]
 * @throws AlgorithmError `INVALID_ARGUMENT` for values that are not finite, β or maxWeight that are not positive
 */
export function advantageWeights(
  advantages: Float32Array,
  { temperature, maxWeight }: { readonly temperature: number; readonly maxWeight: number },
): Float32Array {
  checkFinite({ advantages });
  checkPositive({ temperature, maxWeight });
  const weights = advantages.map((advantage) => Math.min(Math.exp(advantage / temperature), maxWeight));
  checkResults({ weights });
  return weights;
}
