import type { Recipe } from '@retrace/config';
import type { RunState } from '@retrace/trajectory';
import { isShared, placesLeft, type Share } from './round-share.js';

/**
 * The collector's next task. It follows from the control stream only, so a restart decides the same. Several collectors share the
 * rollouts of a round; the first of them does everything else.
 */
export type CollectorTask =
  | { readonly kind: 'demonstrate' }
  | { readonly kind: 'rollOut'; readonly round: number }
  | { readonly kind: 'validate'; readonly policyVersion: number }
  | { readonly kind: 'test'; readonly policyVersion: number }
  | { readonly kind: 'endRun' }
  | { readonly kind: 'finished' }
  /** Why nothing can be done now. */
  | { readonly kind: 'wait'; readonly reason: string };

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
  const isLast = policy.updateNumber >= totalUpdates;
  const isFirst = share.index === 0;
  if (isFirst && validationIsDue(run, recipe, policy.updateNumber, isLast)) {
    return { kind: 'validate', policyVersion: policy.policyVersion };
  }
  if (isLast && !isFirst) return { kind: 'wait', reason: 'the first collector ends the run' };
  if (isLast) {
    const tested =
      recipe.evaluation.numTestEpisodes === 0 || run.metric('evaluation', 'test/success') !== undefined;
    return tested ? { kind: 'endRun' } : { kind: 'test', policyVersion: policy.policyVersion };
  }
  if (isFirst && recipe.imitation && numDemonstrations(run) < recipe.imitation.numEpisodes)
    return { kind: 'demonstrate' };
  if (policy.updateNumber < imitationUpdates) return { kind: 'wait', reason: 'the imitation stage' };
  const task = rollOutOrWait(run, recipe, totalUpdates);
  return task.kind === 'rollOut' ? ownPartOf(task, run, recipe, share) : task;
}

function validationIsDue(run: RunState, recipe: Recipe, updateNumber: number, isLast: boolean): boolean {
  const { everyUpdates } = recipe.evaluation;
  const policyVersion = run.policies.latest?.policyVersion ?? -1;
  if (everyUpdates === 0 || !(isLast || updateNumber % everyUpdates === 0)) return false;
  const evaluatedVersion = run.metric('evaluation', 'validation/success')?.step ?? -1;
  return evaluatedVersion < policyVersion;
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
  const { groupsPerRound, maxStaleness } = recipe.collection;
  let numFresh = 0;
  for (const group of run.groups.all()) {
    const staleness = group.trainable ? run.stalenessOf(group.policyVersionMin) : null;
    if (staleness !== null && staleness <= maxStaleness) numFresh++;
  }
  const updatesDone = run.updates.lastUpdate?.updateNumber ?? 0;
  if (numFresh >= (totalUpdates - updatesDone) * groupsPerRound)
    return { kind: 'wait', reason: 'the last updates' };
  const isUpdating = run.updates.pendingPlans.length > 0 || updatesDone !== run.policies.latest?.updateNumber;
  const numUpdatesAhead = Number(isUpdating) + Math.ceil(numFresh / groupsPerRound);
  if (numUpdatesAhead > maxStaleness) {
    const reason = numFresh > 0 ? `the trainer: ${numFresh} groups are not trained yet` : 'the next policy';
    return { kind: 'wait', reason };
  }
  return { kind: 'rollOut', round: run.groups.lastRound + 1 };
}

/** Makes a share that has played its part of a round wait for the others, since the next round begins when this one is complete. */
function ownPartOf(
  task: Extract<CollectorTask, { kind: 'rollOut' }>,
  run: RunState,
  { collection }: Recipe,
  share: Share,
): CollectorTask {
  if (!isShared(run, share)) return task;
  const key = { split: 'train', trainable: true, round: task.round } as const;
  if (placesLeft(run, key, collection.groupsPerRound, share).length > 0) return task;
  const numClosed = run.rounds.closings(key)?.size ?? 0;
  const reason = `the other collectors: ${numClosed} of ${collection.groupsPerRound} groups of round ${task.round} are closed`;
  return { kind: 'wait', reason };
}

function numDemonstrations(run: RunState): number {
  let count = 0;
  for (const group of run.groups.all()) if (!group.trainable) count++;
  return count;
}
