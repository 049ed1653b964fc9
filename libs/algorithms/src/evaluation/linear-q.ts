import { AlgorithmError } from '../errors.js';
import {
  checkFinite,
  checkGroupIds,
  checkNonNegative,
  checkOffsets,
  checkPositiveInteger,
  checkUnitInterval,
  checkValues,
} from '../layout/check.js';
import type { LoggedEpisodes } from './logged-episodes.js';

/** Logged decisions in features: Q(s, a) ≈ w·φ(s, a). One-hot features of (state, action) make it tabular. */
export interface QTransitions extends Pick<LoggedEpisodes, 'offsets' | 'rewards' | 'groupIds'> {
  readonly numFeatures: number;
  /** φ(s_t, a_t) of the decision taken, row by row `[N·F]`. */
  readonly features: Float32Array;
  /** E_{a∼π} φ(s_t, a) of the candidate in the state of each decision `[N·F]`. */
  readonly expectedFeatures: Float32Array;
}

export interface FittedQOptions {
  /** Discount per decision, in [0, 1]. */
  readonly gamma: number;
  /** Ridge penalty ≥ 0 on the weights, per decision. Default 1e-6. */
  readonly ridge?: number;
}

const MAX_ITERATIONS = 1000;
/** The iteration has settled when no weight changes by more. */
const TOLERANCE = 1e-9;

/** Weights of a linear Q model `[F]`. */
export type LinearQ = Float64Array;

/**
 * Fitted-Q iteration for evaluation (Le, Voloshin & Yue, arXiv:1903.08738) with a linear model:
 * w ← argmin Σ_t (r_t + γ E_π φ_{t+1}·w_k − φ_t·w)² + ridge, iterated to its fixed point; after the last decision of an episode
 * the value is 0. Keeps the sums over decisions that the fit needs; those of several sets of episodes add up.
 */
export class RegressionSystem {
  /** Σ φφᵀ `[F·F]`. */
  private readonly gram: Float64Array;
  /** Σ φ r `[F]`. */
  private readonly rewardMoments: Float64Array;
  /** Σ φ_t (E_π φ_{t+1})ᵀ `[F·F]`. */
  private readonly nextMoments: Float64Array;
  private numDecisions = 0;

  constructor(private readonly size: number) {
    this.gram = new Float64Array(size * size);
    this.nextMoments = new Float64Array(size * size);
    this.rewardMoments = new Float64Array(size);
  }

  /** @param times how often the episode counts */
  addEpisode(transitions: QTransitions, episode: number, times: number): void {
    const { offsets, features, expectedFeatures, rewards } = transitions;
    const { size, gram, nextMoments, rewardMoments } = this;
    const end = offsets[episode + 1];
    this.numDecisions += times * (end - offsets[episode]);
    for (let t = offsets[episode]; t < end; t++) {
      const isLast = t + 1 === end;
      for (let i = 0; i < size; i++) {
        const feature = times * features[t * size + i];
        if (feature === 0) continue;
        rewardMoments[i] += feature * rewards[t];
        for (let j = 0; j < size; j++) {
          gram[i * size + j] += feature * features[t * size + j];
          if (!isLast) nextMoments[i * size + j] += feature * expectedFeatures[(t + 1) * size + j];
        }
      }
    }
  }

  add({ gram, nextMoments, rewardMoments, numDecisions }: RegressionSystem): void {
    for (let i = 0; i < gram.length; i++) {
      this.gram[i] += gram[i];
      this.nextMoments[i] += nextMoments[i];
    }
    for (let i = 0; i < rewardMoments.length; i++) this.rewardMoments[i] += rewardMoments[i];
    this.numDecisions += numDecisions;
  }

  /** @throws AlgorithmError `INSUFFICIENT_DATA` when the regression is singular or the iteration does not settle */
  solve({ gamma, ridge = 1e-6 }: FittedQOptions): LinearQ {
    const { size, nextMoments, rewardMoments } = this;
    const gram = this.gram.slice();
    for (let i = 0; i < size; i++) gram[i * size + i] += ridge * this.numDecisions;
    const factor = choleskyFactor(gram, size);
    let weights: LinearQ = new Float64Array(size);
    for (let iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
      const target = new Float64Array(size);
      for (let i = 0; i < size; i++) {
        let next = 0;
        for (let j = 0; j < size; j++) next += nextMoments[i * size + j] * weights[j];
        target[i] = rewardMoments[i] + gamma * next;
      }
      const updated = solveCholesky(factor, target, size);
      let change = 0;
      for (let i = 0; i < size; i++) change = Math.max(change, Math.abs(updated[i] - weights[i]));
      weights = updated;
      if (change <= TOLERANCE) return weights;
      if (!Number.isFinite(change)) break;
    }
    throw new AlgorithmError(
      'INSUFFICIENT_DATA',
      `fitted-Q evaluation did not settle in ${MAX_ITERATIONS} iterations: more episodes, a larger ridge or fewer features are needed`,
    );
  }
}

/** Lower triangular L with LLᵀ = matrix. */
function choleskyFactor(matrix: Float64Array, size: number): Float64Array {
  const factor = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j];
      for (let k = 0; k < j; k++) sum -= factor[i * size + k] * factor[j * size + k];
      if (i === j && !(sum > 0)) {
        throw new AlgorithmError(
          'INSUFFICIENT_DATA',
          `feature ${i} is never seen or depends on others, so the regression is singular: a ridge > 0 or other episodes are needed`,
        );
      }
      factor[i * size + j] = i === j ? Math.sqrt(sum) : sum / factor[j * size + j];
    }
  }
  return factor;
}

/** x with LLᵀx = b. */
function solveCholesky(factor: Float64Array, right: Float64Array, size: number): Float64Array {
  const solution = Float64Array.from(right);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) solution[i] -= factor[i * size + k] * solution[k];
    solution[i] /= factor[i * size + i];
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) solution[i] -= factor[k * size + i] * solution[k];
    solution[i] /= factor[i * size + i];
  }
  return solution;
}

/** φ·w of the row that begins at `start`. */
export function dot(features: Float32Array, start: number, weights: LinearQ): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += features[start + i] * weights[i];
  return sum;
}

export function checkFittedQOptions({ gamma, ridge = 0 }: FittedQOptions): void {
  checkUnitInterval({ gamma });
  checkNonNegative({ ridge });
}

export function checkTransitions({
  offsets,
  numFeatures,
  features,
  expectedFeatures,
  rewards,
  groupIds,
}: QTransitions): void {
  checkPositiveInteger({ numFeatures });
  checkOffsets('offsets', offsets, rewards.length);
  checkFinite({ rewards });
  checkValues({ features, expectedFeatures }, rewards.length * numFeatures);
  if (groupIds) checkGroupIds('groupIds', groupIds, offsets.length - 1);
}
