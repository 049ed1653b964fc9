import { bestVersions, isValidatedAfter, validationPlateau, type Recipe } from '@retrace/config';
import type { PolicyPublished, RunState, Split } from '@retrace/trajectory';

/** The validator's next task. It follows from the control stream only, so a restart decides the same. */
export type ValidatorTask =
  | {
      readonly kind: 'evaluate';
      readonly split: Split;
      readonly numTasks: number;
      readonly policy: PolicyPublished;
    }
  | { readonly kind: 'endRun'; readonly detail: string }
  | { readonly kind: 'finished' }
  | { readonly kind: 'wait' };

/**
 * Validates every version that is due, in order, however far training has gone on meanwhile; then tests, and ends the run. Where training
 * stopped early, the version with the best validation is tested.
 */
export function nextValidation(run: RunState, recipe: Recipe): ValidatorTask {
  if (run.ended) return { kind: 'finished' };
  const { numValidationEpisodes, numTestEpisodes } = recipe.evaluation;
  const plateau = validationPlateau(run.validationSuccess, recipe);
  if (plateau === null) {
    const policy = dueForValidation(run, recipe).at(0);
    if (policy) return { kind: 'evaluate', split: 'validation', numTasks: numValidationEpisodes, policy };
    const { latest } = run.policies;
    if (latest === null || !isLast(latest, recipe)) return { kind: 'wait' };
  }
  // The update under way when training stops is still committed; the end of the run comes after it.
  if (run.updates.pendingPlans.length > 0) return { kind: 'wait' };
  const tested = versionToTest(run, recipe, plateau?.bestVersion ?? null);
  if (tested === undefined) return { kind: 'wait' };
  if (numTestEpisodes > 0 && run.metric('evaluation', 'test/success') === undefined)
    return { kind: 'evaluate', split: 'test', numTasks: numTestEpisodes, policy: tested };
  return { kind: 'endRun', detail: plateau?.detail ?? '' };
}

/** Counts the published versions that are to be validated and are not yet, with the one that is being validated. */
export function numWaitingVersions(run: RunState, recipe: Recipe): number {
  const isOver = run.ended !== null || validationPlateau(run.validationSuccess, recipe) !== null;
  return isOver ? 0 : dueForValidation(run, recipe).length;
}

/** The versions that are due and were not validated yet, in order. */
function dueForValidation(run: RunState, recipe: Recipe): PolicyPublished[] {
  const { evaluation } = recipe;
  const { latest } = run.policies;
  if (evaluation.everyUpdates === 0 || latest === null) return [];
  const due: PolicyPublished[] = [];
  for (
    let version = Math.max(-1, ...run.validationSuccess.keys()) + 1;
    version <= latest.policyVersion;
    version++
  ) {
    const policy = run.policies.get(version);
    if (policy && (isValidatedAfter(policy.updateNumber, evaluation) || isLast(policy, recipe)))
      due.push(policy);
  }
  return due;
}

function isLast({ updateNumber }: PolicyPublished, { numUpdates, imitation }: Recipe): boolean {
  return updateNumber >= (imitation?.numUpdates ?? 0) + numUpdates;
}

/** The newest version, or with early stop the one with the best validation. */
function versionToTest(
  run: RunState,
  { evaluation }: Recipe,
  best: number | null,
): PolicyPublished | undefined {
  const { latest } = run.policies;
  if (!evaluation.earlyStop) return latest ?? undefined;
  const version = best ?? bestVersions(run.validationSuccess, 1)[0];
  return version === undefined ? (latest ?? undefined) : run.policies.get(version);
}
