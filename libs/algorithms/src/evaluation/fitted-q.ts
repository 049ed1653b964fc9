import { AlgorithmError } from '../errors.js';
import {
  checkFinite,
  checkNonNegative,
  checkOffsets,
  checkUnitInterval,
  checkValues,
} from '../layout/check.js';
import { bootstrapInterval, type BootstrapOptions, type Interval } from './bootstrap.js';

/** Logged decisions in features: Q(s, a) ≈ w·φ(s, a). One-hot features of (state, action) make it tabular. */
export interface QTransitions {
  /** Episodes over decisions `[E + 1]`. */
  readonly offsets: Int32Array;
  readonly numFeatures: number;
  /** φ(s_t, a_t) of the decision taken, row by row `[N·F]`. */
  readonly features: Float32Array;
  /** E_{a∼π} φ(s_t, a) of the candidate in the state of each decision `[N·F]`. */
  readonly expectedFeatures: Float32Array;
  readonly rewards: Float32Array;
}

export interface FittedQOptions {
  /** Discount per decision, in [0, 1]. */
  readonly gamma: number;
  /** Ridge penalty ≥ 0 on the weights, per decision. Default 1e-6. */
  readonly ridge?: number;
  /** Default 1000. */
  readonly maxIterations?: number;
  /** Stops when no weight changes by more. Default 1e-9. */
  readonly tolerance?: number;
}

/** Weights of a linear Q model `[F]`. */
export type LinearQ = Float64Array;

/**
 * Fitted-Q evaluation (Le, Voloshin & Yue, arXiv:1903.08738) with a linear model on the given episodes:
 * w ← argmin Σ_t (r_t + γ E_π φ_{t+1}·w_k − φ_t·w)² + ridge, iterated to its fixed point; after the last decision of an episode
 * the value is 0.
 *
 * @param episodes which episodes to fit on; repeated ones count as often
 * @throws AlgorithmError `INVALID_ARGUMENT` for arrays that do not fit, values that are not finite, options outside their
 * range; `INSUFFICIENT_DATA` when the regression is singular or the iteration does not settle
 */
export function fitLinearQ(
  transitions: QTransitions,
  episodes: Int32Array,
  options: FittedQOptions,
): LinearQ {
  const { gamma, ridge = 1e-6, maxIterations = 1000, tolerance = 1e-9 } = options;
  checkTransitions(transitions);
  checkUnitInterval('gamma', gamma);
  checkNonNegative('ridge', ridge);
  const system = accumulate(transitions, episodes, ridge);
  const size = transitions.numFeatures;
  const factor = choleskyFactor(system.gram, size);
  let weights: LinearQ = new Float64Array(size);
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    const target = system.rewardMoments.map((moment, i) => {
      let next = 0;
      for (let j = 0; j < size; j++) next += system.nextMoments[i * size + j] * weights[j];
      return moment + gamma * next;
    });
    const updated = solveCholesky(factor, target, size);
    const change = updated.reduce((most, weight, i) => Math.max(most, Math.abs(weight - weights[i])), 0);
    weights = updated;
    if (change <= tolerance) return weights;
    if (!Number.isFinite(change)) break;
  }
  throw new AlgorithmError(
    'INSUFFICIENT_DATA',
    `fitted-Q evaluation did not settle in ${String(maxIterations)} iterations: more episodes, a larger ridge or fewer features are needed`,
  );
}

/**
 * φ·w of each row `[N]`.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for values that are not finite or features that are no whole rows
 */
export function linearValues(features: Float32Array, weights: LinearQ): Float32Array {
  const size = weights.length;
  checkFinite('weights', weights);
  checkValues('features', features, Math.floor(features.length / size) * size);
  return Float32Array.from({ length: features.length / size }, (_, t) => dot(features, t * size, weights));
}

export interface CrossFittedQ {
  /** Q of each decision `[N]`, by a model that never saw its episode. */
  readonly qValues: Float32Array;
  /** E_π Q in the state of each decision `[N]`, by the same model. */
  readonly stateValues: Float32Array;
}

/**
 * Q values for doubly robust evaluation: episode e is in fold e mod `numFolds`, and its values come from a model fitted on
 * all other folds.
 *
 * @throws AlgorithmError as `fitLinearQ`; `INVALID_ARGUMENT` unless 2 ≤ numFolds ≤ number of episodes
 */
export function crossFitLinearQ(
  transitions: QTransitions,
  numFolds: number,
  options: FittedQOptions,
): CrossFittedQ {
  const { offsets, features, expectedFeatures, numFeatures } = transitions;
  checkTransitions(transitions);
  const numEpisodes = offsets.length - 1;
  if (!Number.isInteger(numFolds) || numFolds < 2 || numFolds > numEpisodes) {
    const range = `[2, ${String(numEpisodes)}], the number of episodes`;
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `numFolds is ${String(numFolds)}, must be an integer in ${range}`,
    );
  }
  const qValues = new Float32Array(transitions.rewards.length);
  const stateValues = new Float32Array(transitions.rewards.length);
  const all = Int32Array.from({ length: numEpisodes }, (_, e) => e);
  for (let fold = 0; fold < numFolds; fold++) {
    const weights = fitLinearQ(
      transitions,
      all.filter((e) => e % numFolds !== fold),
      options,
    );
    for (let e = fold; e < numEpisodes; e += numFolds) {
      for (let t = offsets[e]; t < offsets[e + 1]; t++) {
        qValues[t] = dot(features, t * numFeatures, weights);
        stateValues[t] = dot(expectedFeatures, t * numFeatures, weights);
      }
    }
  }
  return { qValues, stateValues };
}

/**
 * The candidate's value by the model alone: mean of E_π Q over first states. The interval fits the model anew on every
 * resample, so it holds the uncertainty of the fit, but not the error of a model class that cannot express Q.
 *
 * @throws AlgorithmError as `fitLinearQ`; `INVALID_ARGUMENT` when an episode has no decision
 */
export function fittedQEvaluation(
  transitions: QTransitions,
  options: FittedQOptions & { readonly bootstrap: BootstrapOptions },
): { readonly value: number; readonly interval: Interval } {
  const { offsets, expectedFeatures, numFeatures } = transitions;
  checkTransitions(transitions);
  const all = Int32Array.from({ length: offsets.length - 1 }, (_, e) => e);
  const empty = all.find((e) => offsets[e] === offsets[e + 1]);
  if (empty !== undefined || all.length === 0) {
    const what = empty === undefined ? 'there are no episodes' : `episode ${String(empty)} has no decision`;
    throw new AlgorithmError('INVALID_ARGUMENT', `${what}: there is no first state to evaluate`);
  }
  const estimate = (episodes: Int32Array): number => {
    const weights = fitLinearQ(transitions, episodes, options);
    let sum = 0;
    for (const e of episodes) sum += dot(expectedFeatures, offsets[e] * numFeatures, weights);
    return sum / episodes.length;
  };
  return { value: estimate(all), interval: bootstrapInterval(all.length, estimate, options.bootstrap) };
}

interface RegressionSystem {
  /** Σ φφᵀ + ridge·n·I `[F·F]`. */
  readonly gram: Float64Array;
  /** Σ φ r `[F]`. */
  readonly rewardMoments: Float64Array;
  /** Σ φ_t (E_π φ_{t+1})ᵀ `[F·F]`. */
  readonly nextMoments: Float64Array;
}

function accumulate(transitions: QTransitions, episodes: Int32Array, ridge: number): RegressionSystem {
  const { offsets, features, expectedFeatures, rewards, numFeatures: size } = transitions;
  const gram = new Float64Array(size * size);
  const nextMoments = new Float64Array(size * size);
  const rewardMoments = new Float64Array(size);
  let numDecisions = 0;
  for (const e of episodes) {
    for (let t = offsets[e]; t < offsets[e + 1]; t++) {
      numDecisions += 1;
      const isLast = t + 1 === offsets[e + 1];
      for (let i = 0; i < size; i++) {
        const feature = features[t * size + i];
        if (feature === 0) continue;
        rewardMoments[i] += feature * rewards[t];
        for (let j = 0; j < size; j++) {
          gram[i * size + j] += feature * features[t * size + j];
          if (!isLast) nextMoments[i * size + j] += feature * expectedFeatures[(t + 1) * size + j];
        }
      }
    }
  }
  for (let i = 0; i < size; i++) gram[i * size + i] += ridge * numDecisions;
  return { gram, rewardMoments, nextMoments };
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
          `feature ${String(i)} is never seen or depends on others, so the regression is singular: a ridge > 0 or other episodes are needed`,
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

function dot(features: Float32Array, start: number, weights: LinearQ): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += features[start + i] * weights[i];
  return sum;
}

function checkTransitions({ offsets, numFeatures, features, expectedFeatures, rewards }: QTransitions): void {
  if (!Number.isInteger(numFeatures) || numFeatures < 1) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `numFeatures is ${String(numFeatures)}, must be an integer ≥ 1`,
    );
  }
  checkOffsets('offsets', offsets, rewards.length);
  checkValues('rewards', rewards, rewards.length);
  checkValues('features', features, rewards.length * numFeatures);
  checkValues('expectedFeatures', expectedFeatures, rewards.length * numFeatures);
}
