import {
  checkGroupIds,
  checkNonNegative,
  checkResults,
  checkValues,
  type NumericArray,
} from '../layout/check.js';
import { countGroups, momentsOfGroups, type GroupSignalCounts } from '../layout/groups.js';
import { moments } from '../statistics/moments.js';

/** Default of `epsilon`, which keeps a group's deviation away from 0 where it divides. */
export const GROUP_EPSILON = 1e-6;

/** Input of every estimator that compares the episodes of a group. */
export interface GroupInput {
  /** Return of each episode `[E]`. A missing return is excluded before, never passed as 0 or NaN. */
  readonly returns: NumericArray;
  /** Group number of each episode `[E]`, each below E; numbers need not be contiguous. */
  readonly groupIds: Int32Array;
}

export interface GroupAdvantages extends GroupSignalCounts {
  /** One advantage per episode `[E]`, which `broadcastRows` spreads over its action tokens; or per token `[N]`, where an estimator says so. */
  readonly advantages: Float32Array;
}

/** Advantage of a group of one: 0 (there is nothing to compare with), or its `raw` return, as verl has it. */
export type SingletonRule = 'zero' | 'raw';

export interface GrpoOptions {
  readonly singleton?: SingletonRule;
  /**
   * Advantage in a group whose returns are all equal, or that has one member under `singleton: 'zero'`:
   * c · (R − batch mean)/batch deviation with this c, over all episodes of the batch. Default 0: nothing, as in
   * the paper. With 0.5, groups that all fail still learn which tasks are worse than others, where plain GRPO
   * stalls once most groups agree; the price is a bias toward easy tasks.
   */
  readonly equalGroupCoefficient?: number;
  /** Added to the deviation that divides, at least 0. Default 1e-6, as in verl. */
  readonly epsilon?: number;
}

/**
 * Group relative policy optimisation (Shao et al., arXiv:2402.03300, §4.1.2): A_i = (R_i − μ)/(σ + ε), μ and σ
 * (sample, n − 1) over the episodes of one group.
 *
 * Returns that differ only by the rounding of float32 (2^−22 relative) count as equal, so a vanishing σ cannot amplify noise.
 * Both kinds of groups without a signal are counted in the result.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for unequal lengths, returns that are not finite, bad group numbers
 */
export function grpo(input: GroupInput, options: GrpoOptions = {}): GroupAdvantages {
  const { singleton = 'zero', equalGroupCoefficient = 0, epsilon = GROUP_EPSILON } = options;
  checkNonNegative({ equalGroupCoefficient, epsilon });
  const { returns, groupIds } = input;
  checkGroupInput(input);
  const groups = momentsOfGroups(returns, groupIds);
  const batch = moments(returns);
  const batchScale = batch.variance > 0 ? equalGroupCoefficient / (Math.sqrt(batch.variance) + epsilon) : 0;
  const advantages = new Float32Array(returns.length);
  for (let i = 0; i < advantages.length; i++) {
    const group = groupIds[i];
    const isSingleton = groups.counts[group] === 1;
    if (isSingleton && singleton === 'raw') {
      advantages[i] = returns[i];
    } else if (isSingleton || groups.allEqual[group] === 1) {
      if (batchScale > 0) advantages[i] = (returns[i] - batch.mean) * batchScale;
    } else {
      advantages[i] = (returns[i] - groups.means[group]) / (groups.stds[group] + epsilon);
    }
  }
  checkResults({ advantages });
  return { advantages, ...countGroups(groups) };
}

/** @throws AlgorithmError unless returns are finite and group numbers fit them */
export function checkGroupInput({ returns, groupIds }: GroupInput): void {
  checkValues({ returns }, returns.length);
  checkGroupIds('groupIds', groupIds, returns.length);
}
