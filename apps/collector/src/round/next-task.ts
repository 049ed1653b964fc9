import { collectsForTraining, validationPlateau, type Recipe } from '@retrace/config';
import { insertBlock } from '@retrace/algorithms/sampling';
import type { RunState, SamplingBlocked } from '@retrace/trajectory';
import { computeQuota } from './own-quota.js';
import { isShared, placesLeft, type Share } from './round-share.js';

/**
 * The collector's next task. It follows from the control stream only, so a restart decides the same. Several collectors share the
 * rollouts of a round; the first of them plays the demonstrations.
 */
export type CollectorTask =
  | { readonly kind: 'demonstrate' }
  | { readonly kind: 'rollOut'; readonly round: number }
  | { readonly kind: 'finished' }
  /** Why nothing can be done now; `block` where the limiter of samples and inserts is the reason. */
  | { readonly kind: 'wait'; readonly reason: string; readonly block?: SamplingBlocked };

export function nextTask(
  run: RunState,
  recipe: Recipe,
  share: Share = { index: 0, count: 1 },
): CollectorTask {
  if (run.ended) return { kind: 'finished' };
  const policy = run.policies.latest;
  if (!policy) return { kind: 'wait', reason: 'the first policy' };
  const imitationUpdates = recipe.imitation?.numUpdates ?? 0;
  const totalUpdates = imitationUpdates + recipe.numUpdates;
  if (policy.updateNumber >= totalUpdates) return { kind: 'wait', reason: 'the end of the run' };
  if (validationPlateau(run.validationSuccess, recipe)) return { kind: 'wait', reason: 'the end of the run' };
  if (share.index === 0 && recipe.imitation && numDemonstrations(run) < recipe.imitation.numEpisodes)
    return { kind: 'demonstrate' };
  if (policy.updateNumber < imitationUpdates) return { kind: 'wait', reason: 'the imitation stage' };
  if (!collectsForTraining(recipe)) return { kind: 'wait', reason: 'the trainer, on stored episodes' };
  const task = rollOutOrWait(run, recipe, totalUpdates);
  return task.kind === 'rollOut' ? toOwnPart(task, run, recipe, share) : task;
}

/**
 * Limits staleness. A round that starts now is trained after the update under way and after those that the waiting groups fill. Each
 * of them makes a new policy version, and the round may be at most `maxStaleness` versions old. Groups too stale to be sampled do
 * not count, or collection would block for ever. In synchronous mode a round starts when the policy trained on the previous
 * round is published.
 */
function rollOutOrWait(
  run: RunState,
  recipe: Recipe,
  totalUpdates: number,
): Extract<CollectorTask, { kind: 'rollOut' | 'wait' }> {
  const { maxStaleness } = recipe.collection;
  const round = run.groups.lastRound + 1;
  const { numGroups } = computeQuota(recipe, round);
  const { limiter } = recipe.sampler ?? {};
  // The limiter bounds how far collection is ahead, and groups that become too stale are discarded.
  if (limiter) return insertOrWait(run, { limiter, round, numGroups });
  let numFresh = 0;
  for (const group of run.groups.all()) {
    const isUnused = group.trainable && group.numPlans === 0;
    const staleness = isUnused ? run.stalenessOf(group.policyVersionMin) : null;
    if (staleness !== null && staleness <= maxStaleness) numFresh++;
  }
  const updatesDone = run.updates.lastUpdate?.updateNumber ?? 0;
  if (numFresh >= (totalUpdates - updatesDone) * numGroups)
    return { kind: 'wait', reason: 'the last updates' };
  const isUpdating = run.updates.pendingPlans.length > 0 || updatesDone !== run.policies.latest?.updateNumber;
  const numUpdatesAhead = Number(isUpdating) + wholeUpdates(numFresh / numGroups, recipe);
  if (numUpdatesAhead > maxStaleness) {
    const reason = numFresh > 0 ? `the trainer: ${numFresh} groups are not trained yet` : 'the next policy';
    return { kind: 'wait', reason };
  }
  return { kind: 'rollOut', round };
}

/**
 * The round that follows the update under way, if nothing that happens before its policy is published can change that; null otherwise. A run
 * whose end or next groups depend on results has none: validation that stops it, a sampler that replaces or limits groups.
 */
export function roundAfterUpdate(run: RunState, recipe: Recipe, share: Share): number | null {
  const policy = run.policies.latest;
  if (run.ended || !policy || isShared(run, share)) return null;
  const { collection, sampler, evaluation, imitation } = recipe;
  if (collection.maxStaleness > 0 || sampler || evaluation.earlyStop || !collectsForTraining(recipe))
    return null;
  const imitationUpdates = imitation?.numUpdates ?? 0;
  const updatesDone = policy.updateNumber + 1;
  if (updatesDone < imitationUpdates || updatesDone >= imitationUpdates + recipe.numUpdates) return null;
  return run.groups.lastRound + 1;
}

/** Where groups without variance are replaced, a partly filled update must not hold back the next round: the update needs more groups. */
function wholeUpdates(numUpdates: number, { sampler }: Recipe): number {
  return sampler?.zeroVariance === 'resample' ? Math.floor(numUpdates) : Math.ceil(numUpdates);
}

interface LimitedInsert {
  readonly limiter: NonNullable<NonNullable<Recipe['sampler']>['limiter']>;
  readonly round: number;
  readonly numGroups: number;
}

/** Collects a round if the limiter allows its groups. */
function insertOrWait(
  { sampling }: RunState,
  { limiter, round, numGroups }: LimitedInsert,
): Extract<CollectorTask, { kind: 'rollOut' | 'wait' }> {
  const numSampled = sampling.numSampled + sampling.numCredited(limiter.samplesPerInsert);
  const counts = { numInserted: sampling.numInserted, numSampled };
  const reason = insertBlock(counts, limiter, numGroups);
  if (reason === null) return { kind: 'rollOut', round };
  return { kind: 'wait', reason, block: { side: 'collector', reason, ...counts } };
}

/** Makes a share that has played its part of a round wait for the others, since the next round begins when this one is complete. */
function toOwnPart(
  task: Extract<CollectorTask, { kind: 'rollOut' }>,
  run: RunState,
  recipe: Recipe,
  share: Share,
): CollectorTask {
  if (!isShared(run, share)) return task;
  const key = { split: 'train', trainable: true, round: task.round } as const;
  const { numGroups } = computeQuota(recipe, task.round);
  if (placesLeft(run, key, numGroups, share).length > 0) return task;
  const numClosed = run.rounds.closings(key)?.size ?? 0;
  const reason = `the other collectors: ${numClosed} of ${numGroups} groups of round ${task.round} are closed`;
  return { kind: 'wait', reason };
}

function numDemonstrations(run: RunState): number {
  let count = 0;
  for (const group of run.groups.all()) if (!group.trainable) count++;
  return count;
}
