import { recipeHash, type Recipe } from '@retrace/config';
import { deriveSeed, Pcg32, shuffle } from '@retrace/environments';
import { newControlEventId, type BatchPlanned, type GroupState, type RunState } from '@retrace/trajectory';
import { demonstrations, sampleGroups } from './sampler.js';

export type NextPlan =
  | {
      readonly kind: 'plan';
      readonly plan: BatchPlanned;
      /** False for a plan that is in the log already: a trainer before this one did not come to commit it. */
      readonly isNew: boolean;
    }
  | { readonly kind: 'wait'; readonly reason: string };

interface PlanOptions {
  readonly recipe: Recipe;
  readonly epoch: number;
  readonly rewardVersion: string;
}

/**
 * The next update to make: a plan that was never committed is redone with the same batch and seed, else a new batch is sampled.
 * Groups that have become too stale leave the run's pool.
 */
export function nextPlan(run: RunState, { recipe, epoch, rewardVersion }: PlanOptions): NextPlan {
  const [pending] = run.updates.pendingPlans;
  if (pending) return { kind: 'plan', plan: pending, isNew: false };
  const imitationUpdates = recipe.imitation?.numUpdates ?? 0;
  const updateNumber = (run.updates.lastUpdate?.updateNumber ?? 0) + 1;
  if (updateNumber > imitationUpdates + recipe.numUpdates) {
    return { kind: 'wait', reason: 'the final evaluation' };
  }
  const stage = updateNumber <= imitationUpdates ? 'imitation' : 'policy';
  const seed = deriveSeed(recipe.seed, stage, updateNumber);
  const batch = stage === 'imitation' ? imitationBatch(run, recipe, seed) : policyBatch(run, recipe);
  if (!batch.ok) return { kind: 'wait', reason: batch.waitingFor };
  const { groups } = batch;
  return {
    kind: 'plan',
    isNew: true,
    plan: {
      planId: newControlEventId(),
      epoch,
      updateNumber,
      stage,
      policyVersionIn: run.policies.latest?.policyVersion ?? 0,
      rewardVersion,
      recipeHash: recipeHash(recipe),
      groupIds: groups.map((group) => group.groupId),
      episodeIds: groups.flatMap((group) => group.episodeIds),
      numSteps: Int32Array.from(groups.flatMap((group) => Array.from(group.numSteps))),
      samplerState: { lastGroupOffset: groups[groups.length - 1].offset },
      seed,
    },
  };
}

function policyBatch(run: RunState, recipe: Recipe) {
  const { groupsPerRound, maxStaleness } = recipe.collection;
  const batch = sampleGroups(run.groups.all(), {
    groupsPerUpdate: groupsPerRound,
    maxStaleness,
    stalenessOf: (behaviorVersion) => run.stalenessOf(behaviorVersion),
  });
  // Or each plan would look at all of them again.
  for (const { groupId } of batch.tooStale) run.groups.forget(groupId);
  return batch;
}

/** Demonstrations drawn without replacement inside one update, afresh in each. */
function imitationBatch(run: RunState, recipe: Recipe, seed: number) {
  const { numEpisodes = 0, episodesPerUpdate = 0 } = recipe.imitation ?? {};
  const available: GroupState[] = demonstrations(run.groups.all());
  if (available.length < numEpisodes) {
    return {
      ok: false as const,
      waitingFor: `demonstrations: ${available.length} of ${numEpisodes} are there`,
    };
  }
  shuffle(available, new Pcg32(seed));
  return { ok: true as const, groups: available.slice(0, episodesPerUpdate) };
}
