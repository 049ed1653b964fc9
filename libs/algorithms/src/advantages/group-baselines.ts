import { checkCounts, checkNonNegative, checkResults } from '../layout/check.js';
import { AlgorithmError } from '../errors.js';
import { countGroups, momentsOfGroups, type GroupMoments } from '../layout/groups.js';
import {
  GROUP_EPSILON,
  checkGroupInput,
  type GroupAdvantages,
  type GroupInput,
  type SingletonRule,
} from './grpo.js';

/*
 * Estimators that subtract a baseline computed from the group. A group of one has nothing to compare with: 0 by
 * default, its raw return with `singleton: 'raw'` (verl). Throws as `grpo` does.
 */

export interface SingletonOptions {
  readonly singleton?: SingletonRule;
}

/** Dr. GRPO (Liu et al., arXiv:2503.20783): A_i = R_i − μ, without dividing by the deviation. */
export function drGrpo(input: GroupInput, options: SingletonOptions = {}): GroupAdvantages {
  return overGroups(input, options, (value, group, groups) => value - groups.means[group]);
}

/**
 * Leave-one-out baseline (RLOO; Ahmadian et al., arXiv:2402.14740): A_i = R_i − mean of the others =
 * n/(n − 1) · (R_i − μ).
 */
export function rloo(input: GroupInput, options: SingletonOptions = {}): GroupAdvantages {
  return overGroups(input, options, (value, group, { counts, means }) => {
    const size = counts[group];
    return (size / (size - 1)) * (value - means[group]);
  });
}

/**
 * MaxRL: A_i = (R_i − μ)/μ, and 0 where μ = 0, for returns ≥ 0. Scaling by 1/μ weighs rarely solved tasks more.
 *
 * @throws AlgorithmError `UNSUPPORTED` for a negative return: μ then has no meaning as a success rate
 */
export function maxRl(input: GroupInput, options: SingletonOptions = {}): GroupAdvantages {
  const negative = input.returns.findIndex((value) => value < 0);
  if (negative !== -1) {
    throw new AlgorithmError(
      'UNSUPPORTED',
      `returns[${negative}] is ${input.returns[negative]}: maxRl divides by the group mean and needs returns ≥ 0`,
    );
  }
  return overGroups(input, options, (value, group, { means }) => {
    const mean = means[group];
    return mean === 0 ? 0 : (value - mean) / mean;
  });
}

export interface OpoInput extends GroupInput {
  /** Number of action tokens of each episode `[E]`. */
  readonly lengths: Int32Array;
}

/**
 * Optimal baseline of OPO (Hao et al., arXiv:2505.23585): A_i = R_i − Σ_j L_j R_j / Σ_j L_j, L the response length.
 * A group without a single action token has baseline 0.
 */
export function opo(input: OpoInput, options: SingletonOptions = {}): GroupAdvantages {
  const { returns, groupIds, lengths } = input;
  checkGroupInput(input);
  checkCounts('lengths', lengths, returns.length);
  const numTokens = new Float64Array(returns.length);
  const weighted = new Float64Array(returns.length);
  for (let i = 0; i < returns.length; i++) {
    numTokens[groupIds[i]] += lengths[i];
    weighted[groupIds[i]] += lengths[i] * returns[i];
  }
  return overGroups(input, options, (value, group) =>
    numTokens[group] === 0 ? value : value - weighted[group] / numTokens[group],
  );
}

export interface GrpoPassKOptions {
  /** Divide by σ + ε. Default true. */
  readonly divideByStd?: boolean;
  /** Added to the deviation that divides, at least 0. Default 1e-6. */
  readonly epsilon?: number;
}

/**
 * Pass@k advantage (arXiv:2503.19595): only the best episode of a group gets (r₁ − r₂)/(σ + ε), r₁ and r₂ its
 * largest and second largest return; all others 0. Of several best ones r₁ = r₂, so all get 0. A group of one
 * gets 0 (verl refuses it).
 */
export function grpoPassK(
  input: GroupInput,
  { divideByStd = true, epsilon = GROUP_EPSILON }: GrpoPassKOptions = {},
): GroupAdvantages {
  checkNonNegative({ epsilon });
  checkGroupInput(input);
  const { returns, groupIds } = input;
  const groups = momentsOfGroups(returns, groupIds);
  const best = new Int32Array(returns.length).fill(-1);
  const second = new Float64Array(returns.length).fill(-Infinity);
  for (let i = 0; i < returns.length; i++) {
    const group = groupIds[i];
    const leader = best[group];
    if (leader === -1) {
      best[group] = i;
    } else if (returns[i] > returns[leader]) {
      second[group] = returns[leader];
      best[group] = i;
    } else if (returns[i] > second[group]) {
      second[group] = returns[i];
    }
  }
  const advantages = new Float32Array(returns.length);
  for (let group = 0; group < best.length; group++) {
    if (groups.counts[group] < 2 || groups.allEqual[group] === 1) continue;
    const lead = returns[best[group]] - second[group];
    advantages[best[group]] = divideByStd ? lead / (groups.stds[group] + epsilon) : lead;
  }
  checkResults({ advantages });
  return { advantages, ...countGroups(groups) };
}

export interface GpgOptions extends SingletonOptions {
  /**
   * Correction by α. `zeroReturns`: B/#{R ≠ 0}, as verl has it. `equalGroups`: B/#{episodes in groups whose
   * returns differ}, the paper's correction for groups that give no gradient. Default `equalGroups`.
   */
  readonly alpha?: 'equalGroups' | 'zeroReturns';
}

/**
 * Group policy gradient (Chu et al., arXiv:2504.02546): A_i = α (R_i − μ), B the number of episodes in the batch.
 * The denominator of α is at least 1.
 */
export function gpg(input: GroupInput, options: GpgOptions = {}): GroupAdvantages {
  const { singleton = 'zero', alpha: rule = 'equalGroups' } = options;
  checkGroupInput(input);
  const { returns, groupIds } = input;
  const groups = momentsOfGroups(returns, groupIds);
  let numCounted = 0;
  for (let i = 0; i < returns.length; i++) {
    const group = groupIds[i];
    const informative = groups.counts[group] > 1 && groups.allEqual[group] === 0;
    numCounted += Number(rule === 'zeroReturns' ? returns[i] !== 0 : informative);
  }
  const alpha = returns.length / Math.max(1, numCounted);
  const advantages = new Float32Array(returns.length);
  for (let i = 0; i < returns.length; i++) {
    const isSingleton = groups.counts[groupIds[i]] === 1;
    const baseline = isSingleton ? (singleton === 'raw' ? 0 : returns[i]) : groups.means[groupIds[i]];
    advantages[i] = alpha * (returns[i] - baseline);
  }
  checkResults({ advantages });
  return { advantages, ...countGroups(groups) };
}

function overGroups(
  input: GroupInput,
  { singleton = 'zero' }: SingletonOptions,
  advantageOf: (value: number, group: number, groups: GroupMoments) => number,
): GroupAdvantages {
  checkGroupInput(input);
  const { returns, groupIds } = input;
  const groups = momentsOfGroups(returns, groupIds);
  const advantages = new Float32Array(returns.length);
  for (let i = 0; i < returns.length; i++) {
    const group = groupIds[i];
    if (groups.counts[group] > 1) advantages[i] = advantageOf(returns[i], group, groups);
    else if (singleton === 'raw') advantages[i] = returns[i];
  }
  checkResults({ advantages });
  return { advantages, ...countGroups(groups) };
}
