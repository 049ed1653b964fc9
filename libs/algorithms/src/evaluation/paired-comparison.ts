import { checkNonNegative, checkValues } from '../layout/check.js';
import { bootstrapInterval, type Interval } from './bootstrap.js';

export interface PairedComparison {
  readonly numTasks: number;
  /** Mean over the tasks of the second policy's success rate minus the first one's; NaN without tasks. */
  readonly difference: number;
  /** 95 % of the difference under resampling of tasks (percentile bootstrap); NaN with fewer than 2 tasks. */
  readonly interval: Interval;
  /** Null where a task has several attempts: McNemar's test needs pairs of single outcomes. */
  readonly mcnemar: McnemarTest | null;
}

export interface McnemarTest {
  readonly numOnlyFirst: number;
  readonly numOnlySecond: number;
  /** Two-sided and exact. */
  readonly pValue: number;
}

const RESAMPLES = { numResamples: 4000, level: 0.95, seed: 0 };

/**
 * Compares two policies on the same tasks: each task counts once, whatever its number of attempts.
 *
 * @param first success rate of the first policy in each task `[T]`
 * @param second that of the second policy in the same tasks `[T]`
 * @param isSingleAttempt whether every rate is of one attempt, so 0 or 1
 * @throws AlgorithmError `INVALID_ARGUMENT` for lists of different lengths, and for rates that are not finite
 */
export function comparePaired(
  first: readonly number[],
  second: readonly number[],
  { isSingleAttempt }: { readonly isSingleAttempt: boolean },
): PairedComparison {
  checkValues({ first: Float64Array.from(first), second: Float64Array.from(second) }, first.length);
  const differences = second.map((rate, t) => rate - first[t]);
  const numTasks = differences.length;
  const mean = (sample: Int32Array) => sample.reduce((sum, t) => sum + differences[t], 0) / numTasks;
  return {
    numTasks,
    difference: mean(Int32Array.from(differences.keys())),
    interval:
      numTasks < 2 ? { low: Number.NaN, high: Number.NaN } : bootstrapInterval(numTasks, mean, RESAMPLES),
    mcnemar: isSingleAttempt ? mcnemar(differences) : null,
  };
}

function mcnemar(differences: readonly number[]): McnemarTest {
  const numOnlyFirst = differences.filter((difference) => difference < 0).length;
  const numOnlySecond = differences.filter((difference) => difference > 0).length;
  return { numOnlyFirst, numOnlySecond, pValue: mcnemarPValue(numOnlyFirst, numOnlySecond) };
}

/**
 * Exact two-sided p-value of McNemar's test: min(1, 2 P(X ≤ min(b, c))), X ~ Binomial(b + c, ½); 1 without discordant pairs. The terms
 * are summed by their logarithms, so that thousands of pairs do not underflow.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT`
 */
export function mcnemarPValue(numOnlyFirst: number, numOnlySecond: number): number {
  checkNonNegative({ numOnlyFirst, numOnlySecond });
  const numPairs = numOnlyFirst + numOnlySecond;
  let logTerm = -numPairs * Math.LN2;
  let tail = 0;
  for (let i = 0; i <= Math.min(numOnlyFirst, numOnlySecond); i++) {
    if (i > 0) logTerm += Math.log((numPairs - i + 1) / i);
    tail += Math.exp(logTerm);
  }
  return Math.min(1, 2 * tail);
}
