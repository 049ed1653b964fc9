import type { ValidationFigures } from '../api-types/schema';

/** The validated version with the highest success over all tasks, of equal ones the newer; null before the first validation. */
export function bestVersion(figures: readonly ValidationFigures[]): number | null {
  let best: ValidationFigures | null = null;
  for (const one of figures) {
    if (one.split !== 'validation' || one.family !== null || one.success === null) continue;
    // A greedy success, where there is one, is the one that decides.
    const isGreedy = one.decoding === 'greedy';
    if (best !== null && best.decoding === 'greedy' && !isGreedy) continue;
    const isBetter =
      best?.success == null ||
      (isGreedy && best.decoding !== 'greedy') ||
      one.success > best.success ||
      (one.success === best.success && one.policyVersion > best.policyVersion);
    if (isBetter) best = one;
  }
  return best?.policyVersion ?? null;
}

/** Of the figures of one split over all tasks, newest version first, those of the newest: by greedy sampling where that was done; null before the first. */
export function newestFigures(figures: readonly ValidationFigures[]): ValidationFigures | null {
  const known = figures.filter(({ success }) => success !== null);
  const newest = known.filter(({ policyVersion }) => policyVersion === known[0].policyVersion);
  return newest.find(({ decoding }) => decoding === 'greedy') ?? newest.at(0) ?? null;
}

/** Those of the first and of the newest validated version on the whole validation split, by the same sampling; null where only one was validated. */
export function firstAndNewestFigures(figures: readonly ValidationFigures[]) {
  const ofTasks = figures.filter(({ split, family }) => split === 'validation' && family === null);
  const newest = newestFigures(ofTasks);
  const alike = ofTasks.filter(({ decoding, success }) => decoding === newest?.decoding && success !== null);
  const first = alike.at(-1) ?? null;
  return first?.policyVersion === newest?.policyVersion ? { first: null, newest: null } : { first, newest };
}
