import { findPlateau } from '@retrace/algorithms';
import type { Recipe } from '../recipe/recipe.js';

/** Success rate of a validation by policy version; NaN = unknown. */
export type ValidatedVersions = ReadonlyMap<number, number>;

/** Whether `evaluation` validates the policy after this update; 0 is the first policy. The last one is always validated, too. */
export function isValidatedAfter(
  updateNumber: number,
  { everyUpdates, beforeTraining = true }: Pick<Recipe['evaluation'], 'everyUpdates' | 'beforeTraining'>,
): boolean {
  if (everyUpdates === 0 || (updateNumber === 0 && !beforeTraining)) return false;
  return updateNumber % everyUpdates === 0;
}

/** Where the validated success of a run has stopped growing. */
export interface ValidationPlateau {
  /** The version whose validation was the last of those without a gain. */
  readonly policyVersion: number;
  readonly bestVersion: number;
  /** Why training ends, in words. */
  readonly detail: string;
}

/**
 * The versions with the highest success, the best first. Of equal ones the newer count as better. A success that is unknown is not among
 * the best.
 */
export function bestVersions(success: ValidatedVersions, count: number): number[] {
  const known = [...success].filter(([, value]) => !Number.isNaN(value));
  known.sort(([versionA, a], [versionB, b]) => b - a || versionB - versionA);
  return known.slice(0, count).map(([version]) => version);
}

/**
 * Finds where a run has to stop by `evaluation.earlyStop`; null where the recipe has none, or success still grows. It follows from the
 * validations only, so every process of the run decides the same.
 */
export function validationPlateau(
  success: ValidatedVersions,
  { evaluation: { earlyStop } }: Pick<Recipe, 'evaluation'>,
): ValidationPlateau | null {
  if (!earlyStop) return null;
  const { patience, minGain = 0 } = earlyStop;
  const validated = [...success].sort(([a], [b]) => a - b);
  const at = findPlateau(
    validated.map(([, value]) => value),
    { patience, minGain },
  );
  if (at === null) return null;
  const [policyVersion] = validated[at];
  const before = new Map(validated.slice(0, at + 1));
  const [bestVersion = policyVersion] = bestVersions(before, 1);
  const best = before.get(bestVersion) ?? Number.NaN;
  const rise = minGain > 0 ? ` by ${minGain}` : '';
  return {
    policyVersion,
    bestVersion,
    detail:
      `stopped early: the success of validation has not risen${rise} in ${patience} validations, ` +
      `the best is ${Number(best.toPrecision(4))} of policy ${bestVersion}`,
  };
}
