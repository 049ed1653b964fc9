import type { Recipe } from '@retrace/config';
import type { RunState } from '@retrace/trajectory';

/** What the collector should do next, decided from the control stream alone, so that a restart decides the same. */
export type CollectorTask =
  | { readonly kind: 'demonstrate' }
  | { readonly kind: 'rollOut'; readonly round: number }
  | { readonly kind: 'validate'; readonly policyVersion: number }
  | { readonly kind: 'test'; readonly policyVersion: number }
  | { readonly kind: 'endRun' }
  | { readonly kind: 'finished' }
  /** Why nothing can be done now. */
  | { readonly kind: 'wait'; readonly reason: string };

export function nextTask(run: RunState, recipe: Recipe): CollectorTask {
  if (run.ended) return { kind: 'finished' };
  const policy = run.policies.latest;
  if (!policy) return { kind: 'wait', reason: 'the first policy' };
  const imitationUpdates = recipe.imitation?.numUpdates ?? 0;
  const totalUpdates = imitationUpdates + recipe.numUpdates;
  const isLast = policy.updateNumber >= totalUpdates;
  if (validationIsDue(run, recipe, policy.updateNumber, isLast)) {
    return { kind: 'validate', policyVersion: policy.policyVersion };
  }
  if (isLast) {
    const tested =
      recipe.evaluation.numTestEpisodes === 0 || run.metric('evaluation', 'test/success') !== undefined;
    return tested ? { kind: 'endRun' } : { kind: 'test', policyVersion: policy.policyVersion };
  }
  if (recipe.imitation && numDemonstrations(run) < recipe.imitation.numEpisodes)
    return { kind: 'demonstrate' };
  if (policy.updateNumber < imitationUpdates) return { kind: 'wait', reason: 'the imitation stage' };
  return rollOutOrWait(run, recipe, totalUpdates);
}

function validationIsDue(run: RunState, recipe: Recipe, updateNumber: number, isLast: boolean): boolean {
  const { everyUpdates } = recipe.evaluation;
  const policyVersion = run.policies.latest?.policyVersion ?? -1;
  if (everyUpdates === 0 || !(isLast || updateNumber % everyUpdates === 0)) return false;
  const evaluatedVersion = run.metric('evaluation', 'validation/success')?.step ?? -1;
  return evaluatedVersion < policyVersion;
}

/**
 * The limiter: groups that wait to be trained stay within `maxStaleness` rounds. Groups that can never be sampled (too stale)
 * do not count, or collection would block for ever. In synchronous mode a round starts when the policy trained on the
 * round before is published.
 */
function rollOutOrWait(run: RunState, recipe: Recipe, totalUpdates: number): CollectorTask {
  const { groupsPerRound, maxStaleness } = recipe.collection;
  let numFresh = 0;
  for (const group of run.groups.all()) {
    const staleness = group.trainable ? run.stalenessOf(group.policyVersionMin) : null;
    if (staleness !== null && staleness <= maxStaleness) numFresh++;
  }
  const updatesDone = run.updates.lastUpdate?.updateNumber ?? 0;
  if (numFresh >= (totalUpdates - updatesDone) * groupsPerRound)
    return { kind: 'wait', reason: 'the last updates' };
  if (numFresh > maxStaleness * groupsPerRound) {
    return { kind: 'wait', reason: `the trainer: ${numFresh} groups are not trained yet` };
  }
  const isUpdating = run.updates.pendingPlans.length > 0 || updatesDone !== run.policies.latest?.updateNumber;
  if (isUpdating && maxStaleness === 0) return { kind: 'wait', reason: 'the next policy' };
  return { kind: 'rollOut', round: run.groups.lastRound + 1 };
}

function numDemonstrations(run: RunState): number {
  let count = 0;
  for (const group of run.groups.all()) if (!group.trainable) count++;
  return count;
}
