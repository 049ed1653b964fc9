import { AlgorithmError } from '../errors.js';
import { checkResults } from '../layout/check.js';
import { bootstrapInterval, type BootstrapOptions, type Interval } from './bootstrap.js';
import { clusterByGroup, type Clusters } from './clusters.js';
import {
  checkFittedQOptions,
  checkTransitions,
  dot,
  RegressionSystem,
  type FittedQOptions,
  type LinearQ,
  type QTransitions,
} from './linear-q.js';

/** Groups are distributed over folds; the episodes of a fold are valued by a model that was fitted on the other folds. */
const NUM_FOLDS = 5;
/** With fewer groups a bootstrap sample could come from a single fold, which leaves nothing to fit on. */
const MIN_GROUPS = 2 * NUM_FOLDS;

export interface CrossFittedQ {
  /** Q of each decision `[N]`, by a model that never saw its episode, nor another of its group. */
  readonly qValues: Float32Array;
  /** E_π Q in the state of each decision `[N]`, by the same model. */
  readonly stateValues: Float32Array;
}

/**
 * Q values for doubly robust evaluation: the group of an episode is in one fold, and its values come from a model fitted on all
 * other folds (cross-fitting; Chernozhukov et al., arXiv:1608.00060).
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for arrays that do not fit, values that are not finite, options outside their range;
 * `INSUFFICIENT_DATA` for fewer than ten groups, a singular regression or an iteration that does not settle
 */
export function crossFitLinearQ(transitions: QTransitions, options: FittedQOptions): CrossFittedQ {
  const { offsets, features, expectedFeatures, numFeatures } = transitions;
  const folds = new Folds(transitions, options);
  const models = folds.fit();
  const qValues = new Float32Array(transitions.rewards.length);
  const stateValues = new Float32Array(transitions.rewards.length);
  for (let e = 0; e + 1 < offsets.length; e++) {
    const weights = models[folds.foldOf(e)];
    for (let t = offsets[e]; t < offsets[e + 1]; t++) {
      qValues[t] = dot(features, t * numFeatures, weights);
      stateValues[t] = dot(expectedFeatures, t * numFeatures, weights);
    }
  }
  checkResults({ qValues, stateValues });
  return { qValues, stateValues };
}

/**
 * Estimates the candidate's value from the model only: mean of E_π Q over first states, each by a model that was fitted on other
 * groups. The interval draws groups and fits again on every resample; copies of a group stay in its fold. It includes the uncertainty
 * of the fit, but not the error of a model class that cannot express Q.
 *
 * @throws AlgorithmError as `crossFitLinearQ`; `INVALID_ARGUMENT` when an episode has no decision
 */
export function fittedQEvaluation(
  transitions: QTransitions,
  options: FittedQOptions & { readonly bootstrap: BootstrapOptions },
): { readonly value: number; readonly interval: Interval } {
  const { offsets, expectedFeatures, numFeatures } = transitions;
  const folds = new Folds(transitions, options);
  const { numClusters, clusterOf } = folds.clusters;
  const numEpisodes = clusterOf.length;
  const empty = clusterOf.findIndex((_, e) => offsets[e] === offsets[e + 1]);
  if (empty !== -1) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `episode ${empty} has no decision: there is no first state to evaluate`,
    );
  }
  const estimate = (timesOf: Int32Array): number => {
    const models = folds.fit(timesOf);
    let sum = 0;
    let count = 0;
    for (let e = 0; e < numEpisodes; e++) {
      const times = timesOf[clusterOf[e]];
      if (times === 0) continue;
      sum += times * dot(expectedFeatures, offsets[e] * numFeatures, models[folds.foldOf(e)]);
      count += times;
    }
    return sum / count;
  };
  const timesOf = new Int32Array(numClusters).fill(1);
  const value = estimate(timesOf);
  const interval = bootstrapInterval(
    numClusters,
    (sample) => {
      timesOf.fill(0);
      for (const cluster of sample) timesOf[cluster] += 1;
      return estimate(timesOf);
    },
    options.bootstrap,
  );
  checkResults({ value, ...interval });
  return { value, interval };
}

/** Episodes dealt out by group, and the fit without each fold. */
class Folds {
  readonly clusters: Clusters;

  constructor(
    private readonly transitions: QTransitions,
    private readonly options: FittedQOptions,
  ) {
    checkTransitions(transitions);
    checkFittedQOptions(options);
    this.clusters = clusterByGroup(transitions.groupIds, transitions.offsets.length - 1);
    const { numClusters } = this.clusters;
    if (numClusters < MIN_GROUPS) {
      throw new AlgorithmError(
        'INSUFFICIENT_DATA',
        `there are ${numClusters} groups of episodes; a Q model that is fitted on some and used on others needs at least ` +
          `${MIN_GROUPS}: ${MIN_GROUPS - numClusters} more groups would do`,
      );
    }
  }

  foldOf(episode: number): number {
    return this.clusters.clusterOf[episode] % NUM_FOLDS;
  }

  /**
   * The model of each fold, fitted on all others.
   *
   * @param timesOf how often the episodes of each cluster count; default: once
   */
  fit(timesOf?: Int32Array): LinearQ[] {
    const { transitions, options } = this;
    const newSystem = () => new RegressionSystem(transitions.numFeatures);
    const parts = Array.from({ length: NUM_FOLDS }, newSystem);
    const { clusterOf } = this.clusters;
    for (let e = 0; e < clusterOf.length; e++) {
      const times = timesOf === undefined ? 1 : timesOf[clusterOf[e]];
      if (times > 0) parts[this.foldOf(e)].addEpisode(transitions, e, times);
    }
    return parts.map((part) => {
      const others = newSystem();
      for (const other of parts) if (other !== part) others.add(other);
      return others.solve(options);
    });
  }
}
