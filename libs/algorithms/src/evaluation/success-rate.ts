import { AlgorithmError } from '../errors.js';
import { checkLength, checkNonNegative, checkUnitInterval } from '../layout/check.js';
import type { Interval } from './bootstrap.js';
import { sumByCluster, type Clusters } from './clusters.js';

export interface SuccessRate {
  /** Fraction of the episodes that succeeded; NaN without episodes. */
  readonly rate: number;
  readonly interval: Interval;
  /** Episodes that the interval counts; fewer than there are where episodes of one task resemble each other. */
  readonly effectiveEpisodes: number;
}

/**
 * Wilson's score interval of a proportion (Wilson 1927; equation 4 of Agresti and Coull 1998):
 * (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), without continuity correction.
 *
 * @param rate successes per trial, in [0, 1]
 * @param numTrials need not be whole: an effective number of trials of a clustered sample
 * @param z quantile of the normal distribution, by default that of 95 %
 * @returns [0, 1] for 0 trials
 * @throws AlgorithmError `INVALID_ARGUMENT`
 */
export function wilsonInterval(rate: number, numTrials: number, z = 1.959963984540054): Interval {
  checkNonNegative({ numTrials });
  if (numTrials === 0) return { low: 0, high: 1 };
  checkUnitInterval({ rate });
  const z2 = (z * z) / numTrials;
  const center = (rate + z2 / 2) / (1 + z2);
  const margin = (z / (1 + z2)) * Math.sqrt((rate * (1 - rate)) / numTrials + z2 / (4 * numTrials));
  // Exact at both ends, where the rounding of the root leaves a trace.
  return {
    low: rate === 0 ? 0 : Math.max(0, center - margin),
    high: rate === 1 ? 1 : Math.min(1, center + margin),
  };
}

/**
 * Success rate with Wilson's 95 % interval. Attempts at one task are not independent, so the interval is that of the effective number of
 * episodes (Kish 1965; the interval is compared with others in Franco et al. 2019): p(1−p) over the variance of p between the tasks,
 * Σ_c (s_c − p n_c)² · C/(C−1)/N², between the number of tasks and that of episodes. With one attempt at each task it is Wilson's own. Where
 * all or none succeed, or there is one task only, the variance is unknown and tasks count.
 *
 * @param successes 1 or 0 of each episode `[E]`
 * @param clusters the task of each episode
 * @throws AlgorithmError `INVALID_ARGUMENT`
 */
export function successRate(successes: ArrayLike<number>, clusters: Clusters): SuccessRate {
  const numEpisodes = clusters.clusterOf.length;
  checkLength({ successes }, numEpisodes);
  for (let e = 0; e < numEpisodes; e++) {
    if (successes[e] === 0 || successes[e] === 1) continue;
    throw new AlgorithmError('INVALID_ARGUMENT', `successes[${e}] is ${successes[e]}, must be 0 or 1`);
  }
  if (numEpisodes === 0) return { rate: Number.NaN, interval: { low: 0, high: 1 }, effectiveEpisodes: 0 };
  const counts = sumByCluster(new Uint8Array(numEpisodes).fill(1), clusters);
  const sums = sumByCluster(successes, clusters);
  const rate = sums.reduce((sum, value) => sum + value, 0) / numEpisodes;
  const { numClusters } = clusters;
  const squares = sums.reduce((sum, value, c) => sum + (value - rate * counts[c]) ** 2, 0);
  const variance = (squares * numClusters) / (numClusters - 1) / numEpisodes ** 2;
  const isKnown = numClusters > 1 && rate > 0 && rate < 1;
  const kish = isKnown ? (rate * (1 - rate)) / variance : numClusters;
  const effectiveEpisodes = Math.min(numEpisodes, Math.max(numClusters, kish));
  return { rate, interval: wilsonInterval(rate, effectiveEpisodes), effectiveEpisodes };
}
