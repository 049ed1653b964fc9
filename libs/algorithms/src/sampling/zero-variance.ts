import { checkCount, SamplingError } from './sampling-error.js';

/** Returns closer together than this, relative to their size (but at least 1), count as equal: two steps of a float32 number. */
const EQUALITY_TOLERANCE = 2 ** -22;

/**
 * Finds the groups whose known returns are all equal, or fewer than two: a policy gradient that compares the episodes of a group learns nothing
 * from them. Groups without any episode are not among them.
 *
 * @param returns of episodes `[E]`; NaN = missing
 * @param groups number of each episode's group `[E]`
 * @returns the numbers of these groups, ascending
 * @throws SamplingError `INVALID_ARGUMENT`
 */
export function groupsOfEqualReturns(returns: Float64Array, groups: Int32Array): number[] {
  if (returns.length !== groups.length) {
    const rule = `must have as many entries as groups, ${groups.length}`;
    throw new SamplingError('INVALID_ARGUMENT', `returns has ${returns.length} entries, ${rule}`);
  }
  const bounds = new Map<number, { least: number; most: number; numKnown: number }>();
  groups.forEach((group, e) => {
    checkCount(`groups[${e}]`, group);
    const known = bounds.get(group) ?? { least: Infinity, most: -Infinity, numKnown: 0 };
    if (!Number.isNaN(returns[e])) {
      known.least = Math.min(known.least, returns[e]);
      known.most = Math.max(known.most, returns[e]);
      known.numKnown += 1;
    }
    bounds.set(group, known);
  });
  const isFlat = ({ least, most, numKnown }: { least: number; most: number; numKnown: number }) =>
    numKnown < 2 || most - least <= EQUALITY_TOLERANCE * Math.max(1, Math.abs(most));
  return [...bounds].flatMap(([group, known]) => (isFlat(known) ? [group] : [])).sort((a, b) => a - b);
}
