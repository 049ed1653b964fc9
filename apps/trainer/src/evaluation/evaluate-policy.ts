import { evaluateOffPolicy, OFF_POLICY_ESTIMATORS, type OffPolicyDiagnostics } from '@retrace/algorithms';
import type { Recipe } from '@retrace/config';
import { evaluateLogprobs, openPolicyCheckpoint, type CheckpointFiles } from '@retrace/policy';
import {
  buildTokenBatch,
  type EpisodeColumns,
  type CheckpointFile,
  type TokenBatch,
} from '@retrace/trajectory';
import { toLoggedDecisions, type StepRewards } from './logged-decisions.js';
import {
  estimateWithQ,
  Q_ESTIMATORS,
  type PolicyEstimate,
  type PolicyEstimator,
  type UnavailableEstimator,
} from './q-estimates.js';
import { qFeatures } from './q-features.js';

export interface PolicyEvaluationInput {
  readonly recipe: Recipe;
  readonly checkpoints: CheckpointFiles;
  /** Weights of the candidate. */
  readonly weights: CheckpointFile;
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

export interface PolicyEvaluation {
  /** Null when the episodes cannot support any estimate. */
  readonly estimates: readonly PolicyEstimate[] | null;
  /** Why there are none. */
  readonly refusal: string | null;
  /** Estimators that were asked for and are unavailable for these episodes. */
  readonly unavailable: readonly UnavailableEstimator[];
  readonly diagnostics: OffPolicyDiagnostics;
  /** Mean return of the behavior policies on these episodes. */
  readonly behaviorReturn: number;
  readonly excluded: {
    /** Chosen greedily or at another temperature: no sample of the policy that is evaluated. */
    readonly otherwiseSampled: number;
    readonly missingLogprobs: number;
    readonly missingRewards: number;
  };
}

const BOOTSTRAP = { numResamples: 1000, level: 0.95 };

/**
 * Estimates the return of a policy on episodes that other versions of it sampled: decisions are steps, their logprobs
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
  const model = await openPolicyCheckpoint(input.checkpoints, input.weights);
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
      bootstrap: { ...BOOTSTRAP, seed },
    };
    const behaviorReturn = meanReturn(logged.offsets, logged.rewards, gamma);
    // These come first: a Q model is expensive, and without support there is nothing to estimate.
    const direct = OFF_POLICY_ESTIMATORS.filter(
      (name) => name !== 'doublyRobust' && estimators.includes(name),
    );
    const evaluation = evaluateOffPolicy(logged, { ...common, estimators: direct });
    const { diagnostics } = evaluation;
    const report = { diagnostics, behaviorReturn, excluded: counts };
    if (evaluation.kind === 'refused') {
      return { ...report, estimates: null, refusal: evaluation.reason, unavailable: [] };
    }
    const withQ = Q_ESTIMATORS.filter((name) => estimators.includes(name));
    if (withQ.length === 0)
      return { ...report, estimates: evaluation.estimates, refusal: null, unavailable: [] };
    const passes = { temperature, maxTokensPerMicroBatch };
    const q = await qFeatures(model, batch, logged, scores.values, passes);
    const { estimates, unavailable } = estimateWithQ(withQ, q, { logged, ...common });
    return { ...report, estimates: [...evaluation.estimates, ...estimates], refusal: null, unavailable };
  } finally {
    model.dispose();
  }
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
