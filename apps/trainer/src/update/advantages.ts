import {
  computeAdvantages,
  explainedVariance,
  type AdvantageBatch,
  type OptionalInput,
} from '@retrace/algorithms';
import type { AdvantageRecipe } from '@retrace/config';
import type { EpisodeColumns } from '@retrace/trajectory';
import type { EvaluatedTokens } from '../engine/update-engine.js';
import { numberedAnchors } from './anchors.js';
import type { MetricEntries } from './metrics.js';
import type { ReadBatch } from './read-batch.js';
import { namedBaselines, type Roles } from './roles.js';
import type { RolloutCorrection } from './rollout-correction.js';
import type { ScoredRewards } from './score-rewards.js';
import { gather, gatherMask, not, shuffled } from './token-columns.js';
import type { UpdateNeeds } from './update-needs.js';
import type { ChargedRewards } from './token-rewards.js';

interface AdvantageInput {
  readonly columns: Pick<EpisodeColumns, 'anchors' | 'groupIds' | 'stepOffsets'>;
  readonly read: Pick<ReadBatch, 'batch' | 'groupIds' | 'bootstrapped'>;
  readonly scored: ScoredRewards;
  /** Rewards at the action tokens, as they are trained. */
  readonly charged: Pick<ChargedRewards, 'rewards'>;
  /** The policy's view of the tokens at the start of the update. */
  readonly proximal: EvaluatedTokens;
  /** Whether that covers all sampled tokens. */
  readonly needs: Pick<UpdateNeeds, 'proximalLogprobs'>;
  /** Null where nothing is corrected. */
  readonly correction: Pick<RolloutCorrection, 'weights'> | null;
  /** [E] V(s_T) of truncated episodes; null without a critic. */
  readonly finalValues: Float32Array | null;
  /** Null for estimators without roles. */
  readonly roles: Roles | null;
}

interface AdvantageOptions extends AdvantageRecipe {
  /** [N] 1 = an action token that this update trains. */
  readonly trained: Uint8Array;
  /** Seeds the order in which `shuffle` puts the advantages. */
  readonly seed: number;
}

export interface TokenAdvantages {
  /** [A] */
  readonly advantages: Float32Array;
  /** [A] Targets of the critic; null for estimators without a critic. */
  readonly returns: Float32Array | null;
  /** Running mean return of each role after this batch; empty for estimators without roles. */
  readonly roleBaselines: Readonly<Record<string, number>>;
  /** Share of the variance of returns that the critic explains, over the trained tokens; NaN without a critic. */
  readonly explainedVariance: number;
  /** Names and values that the estimator reports. */
  readonly statistics: MetricEntries;
  readonly warnings: readonly string[];
}

/** Advantages at the action tokens of a batch; episodes that are not trained get 0, and no statistic sees them. */
export function computeTokenAdvantages(
  input: AdvantageInput,
  { estimator, options, shuffle, anchorSimilarity, trained, seed }: AdvantageOptions,
): TokenAdvantages {
  const { read, scored, roles } = input;
  const { actionTokens, episodeActionOffsets } = read.batch;
  const states = numberedAnchors(input.columns, anchorSimilarity);
  const columns = estimatorColumns(input, states.anchors);
  const batch = { offsets: episodeActionOffsets, rewards: input.charged.rewards, groupIds: read.groupIds };
  const excluded = not(scored.episodesToTrain);
  const result = computeAdvantages(estimator, { ...batch, excluded, ...columns }, options);
  const { returns } = result;
  const trainedActions = gatherMask(trained, actionTokens);
  return {
    advantages: shuffle ? shuffled(result.advantages, seed) : result.advantages,
    returns,
    roleBaselines: namedBaselines(roles, result.roleBaselines ?? null),
    explainedVariance:
      columns.values && returns ? explainedVariance(columns.values, returns, trainedActions) : Number.NaN,
    statistics: Object.entries(result.statistics),
    warnings: [...states.warnings, ...(result.warnings ?? [])],
  };
}

/** Every input that an estimator may ask for; null where this update has none. */
function estimatorColumns(
  input: AdvantageInput,
  anchors: Int32Array,
): Required<Pick<AdvantageBatch, OptionalInput>> {
  const { scored, proximal, needs, correction, finalValues, roles } = input;
  const { batch, bootstrapped } = input.read;
  const atActions = (column: Float32Array) => gather(column, batch.actionTokens);
  return {
    values: proximal.values && atActions(proximal.values),
    truncated: bootstrapped,
    finalValues,
    proximalLogprobs: needs.proximalLogprobs ? atActions(proximal.logprobs) : null,
    behaviorLogprobs: atActions(batch.behaviorLogprobs),
    sumSquaredProbabilities: proximal.sumSquaredProbabilities && atActions(proximal.sumSquaredProbabilities),
    importanceWeights: correction?.weights ? atActions(correction.weights) : null,
    episodeSteps: input.columns.stepOffsets,
    stepOffsets: scored.stepOffsets,
    anchors,
    greedyReturns: scored.greedyReturns,
    rewardComponents: scored.components,
    componentWeights: scored.componentWeights,
    roleIds: roles?.roleIds ?? null,
    roleBaselines: roles?.baselines ?? null,
  };
}
