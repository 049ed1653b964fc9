import type { ValidationFigures } from '../api/schema';

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

/** The newest figures of a split over all tasks, by greedy sampling where that was done; null before the first. */
export function newestFigures(
  figures: readonly ValidationFigures[],
  split: ValidationFigures['split'],
): ValidationFigures | null {
  const whole = figures.filter((one) => one.split === split && one.family === null && one.success !== null);
  const newest = whole.filter((one) => one.policyVersion === whole[0].policyVersion);
  return newest.find((one) => one.decoding === 'greedy') ?? newest.at(0) ?? null;
}
