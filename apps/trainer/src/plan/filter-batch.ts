import type { Recipe } from '@retrace/config';
import type { RewardScorer } from '@retrace/rewards/scoring';
import type { BatchPlanned, RunState } from '@retrace/trajectory';
import type { ReadEpisodes } from './read-episodes.js';
import type { BatchSampler } from './batch-sampler.js';
import type { DrawnGroup } from './drawn-group.js';
import { inOrderOfRuns } from './make-plan.js';
import type { PlannedBatch } from './next-plan.js';
import { groupsWithoutVariance } from './zero-variance.js';

const DEFAULT_RESAMPLINGS = 10;

/** The batch to train, or what has to happen before there is one. */
export type FilteredBatch =
  | { readonly kind: 'read'; readonly read: ReadEpisodes }
  /** Groups of the run itself that have to be discarded, so that others can take their place. */
  | { readonly kind: 'discard'; readonly groupIds: readonly string[] }
  | { readonly kind: 'aborted' };

interface FilterOptions {
  readonly recipe: Recipe;
  readonly rewards: RewardScorer;
  readonly run: RunState;
  readonly sampler: BatchSampler;
  /** Null when it was aborted. */
  readonly read: (plan: BatchPlanned) => Promise<ReadEpisodes | null>;
  /** The plan of these groups; others are named in it and not trained. */
  readonly plan: (groups: readonly DrawnGroup[], leftOut: readonly DrawnGroup[]) => BatchPlanned;
  readonly warn: (message: string) => void;
}

/**
 * Reads a new batch and takes out groups without variance, as `sampler.zeroVariance` says. Groups of other runs are replaced at once. Those of the
 * run itself are discarded first, by an event, so that collectors bring others. After `maxResamplings` tries the update takes what it has.
 */
export async function filterBatch(batch: PlannedBatch, options: FilterOptions): Promise<FilteredBatch> {
  const { recipe, sampler, run } = options;
  const { zeroVariance = 'keep', maxResamplings = DEFAULT_RESAMPLINGS } = recipe.sampler ?? {};
  let { plan, groups } = batch;
  let leftOut: readonly DrawnGroup[] = [];
  for (let attempt = 1; ; attempt++) {
    const read = await options.read(plan);
    if (read === null) return { kind: 'aborted' };
    if (zeroVariance === 'keep' || groups.length === 0) return { kind: 'read', read };
    const parts = divide(groups, read.plan, await groupsWithoutVariance(read, options));
    if (parts.flat.length === 0) return { kind: 'read', read };
    if (zeroVariance === 'drop') {
      if (parts.kept.length === 0) return { kind: 'read', read };
      return asRead(await options.read(options.plan(parts.kept, [...parts.flat, ...parts.lost])));
    }
    const ownFlat = parts.flat.filter(({ runId }) => runId === null);
    if (ownFlat.length > 0 && run.sampling.numDiscards < maxResamplings)
      return { kind: 'discard', groupIds: ownFlat.map(({ groupId }) => groupId) };
    const storedFlat = parts.flat.filter(({ runId }) => runId !== null);
    const { updateNumber } = plan;
    const others =
      attempt > maxResamplings
        ? []
        : sampler.replace(storedFlat, { named: [...groups, ...leftOut], updateNumber, attempt });
    if (others.length === 0) {
      options.warn(
        `update ${updateNumber}: ${parts.flat.length} of its ${groups.length} groups have rewards without variance; no others were found in ${maxResamplings} tries`,
      );
      return { kind: 'read', read };
    }
    groups = inOrderOfRuns([...parts.kept, ...ownFlat, ...others]);
    leftOut = [...leftOut, ...storedFlat, ...parts.lost];
    plan = options.plan(groups, leftOut);
  }
}

/** The groups of a plan by what came of them; `lost` have no episode left in it. */
function divide(
  groups: readonly DrawnGroup[],
  { episodeGroups }: BatchPlanned,
  flat: ReadonlySet<number>,
): Record<'kept' | 'flat' | 'lost', DrawnGroup[]> {
  const present = new Set(episodeGroups);
  const parts: Record<'kept' | 'flat' | 'lost', DrawnGroup[]> = { kept: [], flat: [], lost: [] };
  groups.forEach((group, g) => {
    const part = flat.has(g) ? 'flat' : present.has(g) ? 'kept' : 'lost';
    parts[part].push(group);
  });
  return parts;
}

function asRead(read: ReadEpisodes | null): FilteredBatch {
  return read === null ? { kind: 'aborted' } : { kind: 'read', read };
}
