import {
  AlgorithmError,
  crossFitLinearQ,
  evaluateOffPolicy,
  fittedQEvaluation,
  OFF_POLICY_ESTIMATORS,
  type Interval,
  type OffPolicyDiagnostics,
  type QTransitions,
} from '@retrace/algorithms';
import type { Recipe } from '@retrace/config';
import {
  openPolicyCheckpoint,
  evaluateLogprobs,
  type CheckpointFiles,
  type Transformer,
} from '@retrace/policy';
import { buildTokenBatch, type EpisodeColumns, type FileRef, type TokenBatch } from '@retrace/trajectory';
import { toLoggedDecisions, type StepRewards } from './logged-decisions.js';
import { qFeatures } from './q-features.js';

export const POLICY_ESTIMATORS = [...OFF_POLICY_ESTIMATORS, 'fittedQ'] as const;
export type PolicyEstimator = (typeof POLICY_ESTIMATORS)[number];

export interface PolicyEvaluationInput {
  readonly recipe: Recipe;
  readonly checkpoints: CheckpointFiles;
  /** Weights of the candidate. */
  readonly weights: FileRef;
  readonly columns: EpisodeColumns;
  /** [E] */
  readonly rewards: readonly StepRewards[];
  readonly estimators: readonly PolicyEstimator[];
  /** Discount per step, in [0, 1]. */
  readonly gamma: number;
  /** Fewest effective episodes (default 30). */
  readonly minEffectiveEpisodes?: number;
  readonly seed: number;
}

export interface PolicyEstimate {
  readonly estimator: PolicyEstimator;
  readonly value: number;
  readonly interval: Interval;
}

export interface PolicyEvaluation {
  /** null when the episodes cannot support any estimate. */
  readonly estimates: readonly PolicyEstimate[] | null;
  /** Why there are none. */
  readonly refusal: string | null;
  /** Estimators that were asked for and cannot be had here. */
  readonly unavailable: readonly { readonly estimator: PolicyEstimator; readonly reason: string }[];
  readonly diagnostics: OffPolicyDiagnostics;
  /** What the behavior policies got on these episodes. */
  readonly behaviorReturn: number;
  readonly excluded: {
    /** Chosen greedily or at another temperature: no sample of the policy that is evaluated. */
    readonly otherwiseSampled: number;
    readonly missingLogprobs: number;
    readonly missingRewards: number;
  };
}

const bootstrap = { numResamples: 1000, level: 0.95 };
/** Each fits the model anew. */
const numFittedQResamples = 100;

/**
 * What a policy would get, estimated on episodes that other versions of it acted out: decisions are steps, their logprobs
 * recomputed from the candidate's weights under the transform that was sampled with. Q models are
 * fitted on other groups than those that they are used on.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for options outside their range
 */
export async function evaluatePolicy(input: PolicyEvaluationInput): Promise<PolicyEvaluation> {
  const { recipe, columns, rewards, estimators, gamma, seed } = input;
  const batch = buildTokenBatch(columns);
  const { temperature } = recipe.collection;
  const { excluded, counts } = exclude(columns, batch, rewards, temperature);
  const model = await loadModel(input);
  try {
    const { maxTokensPerMicroBatch } = recipe.optimizer;
    const scores = await evaluateLogprobs(model, batch, {
      temperature,
      maxTokensPerMicroBatch,
      actionMask: batch.actionMask,
    });
    const logged = toLoggedDecisions({
      columns,
      batch,
      rewards,
      excluded,
      candidateLogprobs: scores.logprobs,
    });
    const common = {
      gamma,
      minEffectiveEpisodes: input.minEffectiveEpisodes,
      bootstrap: { ...bootstrap, seed },
    };
    const behaviorReturn = meanReturn(logged.offsets, logged.rewards, gamma);
    const needsQ = estimators.includes('doublyRobust') || estimators.includes('fittedQ');
    // Before the Q model, which is dear: without support there is nothing to estimate.
    const direct = OFF_POLICY_ESTIMATORS.filter(
      (name) => name !== 'doublyRobust' && estimators.includes(name),
    );
    const evaluation = evaluateOffPolicy(logged, { ...common, estimators: direct });
    const { diagnostics } = evaluation;
    const report = { diagnostics, behaviorReturn, excluded: counts };
    if (evaluation.kind === 'refused') {
      return { ...report, estimates: null, refusal: evaluation.reason, unavailable: [] };
    }
    const estimates: PolicyEstimate[] = [...evaluation.estimates];
    const unavailable: PolicyEvaluation['unavailable'][number][] = [];
    if (needsQ) {
      const q = await qFeatures(model, batch, logged, scores.values, { temperature, maxTokensPerMicroBatch });
      for (const estimator of ['doublyRobust', 'fittedQ'] as const) {
        if (!estimators.includes(estimator)) continue;
        const found = q.kind === 'none' ? q.reason : withQ(estimator, q.transitions);
        if (typeof found === 'string') unavailable.push({ estimator, reason: found });
        else estimates.push({ estimator, ...found });
      }
    }
    return { ...report, estimates, refusal: null, unavailable };

    function withQ(estimator: 'doublyRobust' | 'fittedQ', transitions: QTransitions) {
      try {
        if (estimator === 'fittedQ') {
          return fittedQEvaluation(transitions, {
            gamma,
            bootstrap: { ...common.bootstrap, numResamples: numFittedQResamples },
          });
        }
        const fitted = crossFitLinearQ(transitions, { gamma });
        const robust = evaluateOffPolicy(
          { ...logged, ...fitted },
          { ...common, estimators: ['doublyRobust'] },
        );
        return robust.kind === 'refused' ? robust.reason : robust.estimates[0];
      } catch (error) {
        if (error instanceof AlgorithmError && error.code === 'INSUFFICIENT_DATA') return error.message;
        throw error;
      }
    }
  } finally {
    model.dispose();
  }
}

async function loadModel({ checkpoints, weights }: PolicyEvaluationInput): Promise<Transformer> {
  return openPolicyCheckpoint(checkpoints, weights);
}

function exclude(
  columns: EpisodeColumns,
  batch: TokenBatch,
  rewards: readonly StepRewards[],
  temperature: number,
): { readonly excluded: Uint8Array; readonly counts: PolicyEvaluation['excluded'] } {
  const excluded = new Uint8Array(columns.episodeIds.length);
  const counts = { otherwiseSampled: 0, missingLogprobs: 0, missingRewards: 0 };
  for (let e = 0; e < excluded.length; e++) {
    const steps = { from: columns.stepOffsets[e], to: columns.stepOffsets[e + 1] };
    const actions = batch.actionTokens.subarray(
      batch.episodeActionOffsets[e],
      batch.episodeActionOffsets[e + 1],
    );
    const isSampled =
      columns.greedy.subarray(steps.from, steps.to).every((greedy) => greedy === 0) &&
      columns.temperatures.subarray(steps.from, steps.to).every((t) => Math.abs(t - temperature) <= 1e-6);
    if (!isSampled) counts.otherwiseSampled++;
    else if (actions.length === 0 || !actions.every((n) => Number.isFinite(batch.behaviorLogprobs[n]))) {
      counts.missingLogprobs++;
    } else if (rewards[e] === null) counts.missingRewards++;
    else continue;
    excluded[e] = 1;
  }
  return { excluded, counts };
}

function meanReturn(offsets: Int32Array, rewards: Float32Array, gamma: number): number {
  let sum = 0;
  for (let e = 0; e + 1 < offsets.length; e++) {
    for (let t = offsets[e]; t < offsets[e + 1]; t++) sum += gamma ** (t - offsets[e]) * rewards[t];
  }
  return sum / (offsets.length - 1);
}
