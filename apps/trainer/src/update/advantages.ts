import {
  computeAdvantages,
  explainedVariance,
  MOST_COMPARED_UNITS,
  numberAnchors,
  numberGroups,
  numberSimilarAnchors,
  type AdvantageBatch,
  type OptionalInput,
} from '@retrace/algorithms';
import type { AdvantageRecipe } from '@retrace/config';
import { dataSourceOf } from '@retrace/rewards';
import type { EpisodeTexts } from '@retrace/store';
import type { EpisodeColumns } from '@retrace/trajectory';
import { not, shuffled, type EvaluatedActions } from './action-tokens.js';
import type { UpdateBatch } from './read-batch.js';
import type { MetricEntries } from '../metric-entries.js';
import type { RewardsWithKl, ScoredRewards } from './rewards.js';
import type { RolloutCorrection } from './rollout-correction.js';
import type { UpdateNeeds } from './update-inputs.js';

interface AdvantageInput {
  readonly columns: Pick<EpisodeColumns, 'anchors' | 'groupIds' | 'stepOffsets'>;
  readonly batch: Pick<UpdateBatch, 'tokens' | 'groupIds' | 'bootstrapped' | 'behaviorLogprobs'>;
  readonly scored: ScoredRewards;
  readonly rewardsWithKl: Pick<RewardsWithKl, 'rewards'>;
  /** The policy's view of the tokens at the start of the update. */
  readonly proximal: EvaluatedActions;
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
  /** [A] 1 = this update trains it. */
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
  const { batch, scored, roles, rewardsWithKl } = input;
  const states = numberedAnchors(input.columns, anchorSimilarity);
  const columns = estimatorColumns(input, states.anchors);
  const result = computeAdvantages(
    estimator,
    {
      offsets: batch.tokens.episodeActionOffsets,
      rewards: rewardsWithKl.rewards,
      groupIds: batch.groupIds,
      excluded: not(scored.episodesToTrain),
      ...columns,
    },
    options,
  );
  const { returns } = result;
  return {
    advantages: shuffle ? shuffled(result.advantages, seed) : result.advantages,
    returns,
    roleBaselines: namedBaselines(roles, result.roleBaselines ?? null),
    explainedVariance:
      columns.values && returns ? explainedVariance(columns.values, returns, trained) : Number.NaN,
    statistics: Object.entries(result.statistics),
    warnings: [...states.warnings, ...(result.warnings ?? [])],
  };
}

/** Every input that an estimator may ask for; null where this update has none. */
function estimatorColumns(
  { columns, batch, scored, proximal, needs, correction, finalValues, roles }: AdvantageInput,
  anchors: Int32Array,
): Required<Pick<AdvantageBatch, OptionalInput>> {
  return {
    values: proximal.values,
    truncated: batch.bootstrapped,
    finalValues,
    proximalLogprobs: needs.proximalLogprobs ? proximal.logprobs : null,
    behaviorLogprobs: batch.behaviorLogprobs,
    sumSquaredProbabilities: proximal.sumSquaredProbabilities,
    importanceWeights: correction?.weights ?? null,
    episodeSteps: columns.stepOffsets,
    stepOffsets: scored.stepOffsets,
    anchors,
    greedyReturns: scored.greedyReturns,
    rewardComponents: scored.components,
    componentWeights: scored.componentWeights,
    roleIds: roles?.roleIds ?? null,
    roleBaselines: roles?.baselines ?? null,
  };
}

interface NumberedAnchors {
  /** [S] The state that each step stood in, equal numbers for equal or, with a threshold, similar ones of a group; −1 for none. */
  readonly anchors: Int32Array;
  readonly warnings: readonly string[];
}

/** @param similarity threshold from which states of a group count as one; undefined: only equal ones do */
export function numberedAnchors(
  { anchors, groupIds, stepOffsets }: Pick<EpisodeColumns, 'anchors' | 'groupIds' | 'stepOffsets'>,
  similarity: number | undefined,
): NumberedAnchors {
  if (similarity === undefined) return { anchors: numberAnchors(anchors), warnings: [] };
  const groupOfStep = new Int32Array(anchors.length);
  numberGroups(groupIds).groupIds.forEach((group, e) =>
    groupOfStep.fill(group, stepOffsets[e], stepOffsets[e + 1]),
  );
  const numbered = numberSimilarAnchors({ anchors, groupOfStep, threshold: similarity });
  const { numUncomparedGroups } = numbered;
  const warnings =
    numUncomparedGroups === 0
      ? []
      : [
          `groups whose different states have more than ${MOST_COMPARED_UNITS} characters in all, too many to look for similar ` +
            `ones: ${numUncomparedGroups}; in them only equal states count as one`,
        ];
  return { anchors: numbered.anchors, warnings };
}

export interface Roles {
  /** In order of first appearance. */
  readonly names: readonly string[];
  /** [E] */
  readonly roleIds: Int32Array;
  /** Running mean return of each, by its number. */
  readonly baselines: Float64Array;
}

/** The role of an episode is its data source, as rewards see it: what its task says, or else its environment. */
export function listRoles(
  texts: readonly EpisodeTexts[],
  sourceField: string | undefined,
  baselines: Readonly<Record<string, number>>,
): Roles {
  const sources = texts.map((episode) => dataSourceOf(episode, sourceField ?? 'data_source'));
  const names = [...new Set(sources)];
  return {
    names,
    roleIds: numberGroups(sources).groupIds,
    baselines: Float64Array.from(names, (name) => (Object.hasOwn(baselines, name) ? baselines[name] : 0)),
  };
}

/** Running mean returns by the names of their roles, as they are recorded; none where the estimator has no roles. */
function namedBaselines(roles: Roles | null, baselines: Float64Array | null): Record<string, number> {
  if (!roles || !baselines) return {};
  return Object.fromEntries(roles.names.map((name, i) => [name, baselines[i]]));
}
