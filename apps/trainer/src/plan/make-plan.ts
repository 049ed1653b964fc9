import { recipeHash, type Recipe, type SamplerRecipe } from '@retrace/config';
import { deriveSeed } from '@retrace/random';
import { drawImportanceWeights, inclusionProbabilities } from '@retrace/algorithms/sampling';
import { newControlEventId, OWN_GROUPS_ONLY, type BatchPlanned, type Json } from '@retrace/trajectory';
import type { DrawnGroup } from './drawn-group.js';

const DEFAULT_IMPORTANCE_EXPONENT = 0.4;

interface PlanOptions {
  readonly recipe: Recipe;
  readonly epoch: number;
  readonly rewardVersion: string;
  readonly updateNumber: number;
  readonly stage: BatchPlanned['stage'];
  readonly policyVersionIn: number;
  /** Recorded with the plan beside the offset of its last group. */
  readonly samplerState?: Readonly<Record<string, Json>>;
}

/**
 * Makes the plan of an update from the groups that were drawn for it.
 *
 * @param groups in the order of `inOrderOfRuns`, so that few reads fetch them
 * @param leftOut groups that were drawn and will not be trained on: they count as sampled
 */
export function makePlan(
  groups: readonly DrawnGroup[],
  options: PlanOptions,
  leftOut: readonly DrawnGroup[] = [],
): BatchPlanned {
  const { recipe, epoch, rewardVersion, updateNumber, stage, policyVersionIn, samplerState = {} } = options;
  const named = [...groups, ...leftOut];
  const ownOffsets = named.flatMap(({ offset }) => offset ?? []);
  return {
    planId: newControlEventId(),
    epoch,
    updateNumber,
    stage,
    policyVersionIn,
    rewardVersion,
    recipeHash: recipeHash(recipe),
    groupIds: named.map((group) => group.groupId),
    episodeIds: groups.flatMap((group) => group.episodeIds),
    numSteps: Int32Array.from(groups.flatMap((group) => Array.from(group.numSteps))),
    samplerState: { lastGroupOffset: ownOffsets.at(-1) ?? null, ...samplerState },
    ...(recipe.data || recipe.sampler ? listOrigins(groups, named, recipe) : OWN_GROUPS_ONLY),
    seed: deriveSeed(recipe.seed, stage, updateNumber),
  };
}

/** The run's own groups in the order in which they were drawn, then those of each other run. */
export function inOrderOfRuns(groups: readonly DrawnGroup[]): DrawnGroup[] {
  const runIds = [...new Set(groups.map(({ runId }) => runId))].sort((a, b) =>
    (a ?? '') < (b ?? '') ? -1 : 1,
  );
  return runIds.flatMap((runId) => groups.filter((group) => group.runId === runId));
}

function listOrigins(
  groups: readonly DrawnGroup[],
  named: readonly DrawnGroup[],
  { data, sampler }: Recipe,
): Pick<BatchPlanned, keyof typeof OWN_GROUPS_ONLY> {
  const runIds = [...new Set(named.flatMap(({ runId }) => runId ?? []))];
  const hasOthers = runIds.length > 0;
  const numbers = new Map(runIds.map((runId, r) => [runId, r + 1]));
  return {
    runIds,
    groupRuns: hasOthers
      ? Int32Array.from(named, ({ runId }) => (runId === null ? 0 : (numbers.get(runId) ?? 0)))
      : null,
    groupSources: data ? Int32Array.from(named, ({ source }) => source) : null,
    groupRows: hasOthers ? Int32Array.from(named, ({ row }) => row) : null,
    episodeGroups: Int32Array.from(groups.flatMap(({ episodeIds }, g) => episodeIds.map(() => g))),
    groupWeights: sampler?.rule === 'prioritized' ? computeWeights(groups, named, sampler) : null,
  };
}

/** [G] Importance weights; the largest of each source is 1, so that the shares of the sources stay as they are. */
function computeWeights(
  groups: readonly DrawnGroup[],
  named: readonly DrawnGroup[],
  { importanceExponent = DEFAULT_IMPORTANCE_EXPONENT }: SamplerRecipe,
): Float64Array {
  const weights = new Float64Array(named.length).fill(1);
  for (const source of new Set(groups.map((group) => group.source))) {
    const places = groups.flatMap((group, g) => (group.source === source && group.chance ? [g] : []));
    const chances = places.flatMap((g) => groups[g].chance ?? []);
    if (chances.length === 0) continue;
    // Replacements continue the first draw, so one time decides for all.
    const nextTime = Math.max(...chances.map((chance) => chance.nextTime));
    const drawn = Float64Array.from(chances, ({ weight }) => weight);
    const probabilities = inclusionProbabilities(drawn, nextTime);
    drawImportanceWeights(probabilities, importanceExponent).forEach((weight, i) => {
      weights[places[i]] = weight;
    });
  }
  return weights;
}
