import type { NumericArray } from './check.js';

/** Numbers group names 0, 1, 2 … in order of first appearance: `names [E]` → `groupIds [E]`. */
export function numberGroups(names: readonly string[]): { groupIds: Int32Array; numGroups: number } {
  const numbers = new Map<string, number>();
  const groupIds = new Int32Array(names.length);
  for (let i = 0; i < names.length; i++) {
    let number = numbers.get(names[i]);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(names[i], number);
    }
    groupIds[i] = number;
  }
  return { groupIds, numGroups: numbers.size };
}

/** Returns closer together than this, relative to their size (but at least 1), count as equal: two steps of a float32 number. */
const EQUALITY_TOLERANCE = 2 ** -22;

/** Statistics of the values of each group; the arrays are indexed by group number. */
export interface GroupMoments {
  readonly counts: Int32Array;
  /** NaN for a number that no member has. */
  readonly means: Float64Array;
  /** Sample (n − 1) standard deviation; 0 for a group of one. */
  readonly stds: Float64Array;
  /** 1 where two or more members all have the same value, up to rounding. */
  readonly allEqual: Uint8Array;
}

/**
 * Mean and sample standard deviation of each group, in two passes of doubles, so that a large common offset
 * does not eat the differences. `values [E]`, `groupIds [E]` with numbers below `numGroups` (default E).
 */
export function momentsOfGroups(
  values: NumericArray,
  groupIds: Int32Array,
  numGroups = groupIds.length,
): GroupMoments {
  const counts = new Int32Array(numGroups);
  const means = new Float64Array(numGroups);
  const stds = new Float64Array(numGroups);
  const allEqual = new Uint8Array(numGroups);
  for (let i = 0; i < values.length; i++) {
    const group = groupIds[i];
    counts[group] += 1;
    means[group] += values[i];
  }
  for (let group = 0; group < numGroups; group++) means[group] /= counts[group];
  for (let i = 0; i < values.length; i++) {
    const group = groupIds[i];
    const difference = values[i] - means[group];
    stds[group] += difference * difference;
  }
  let numNearlyEqual = 0;
  for (let group = 0; group < numGroups; group++) {
    stds[group] = counts[group] > 1 ? Math.sqrt(stds[group] / (counts[group] - 1)) : 0;
    // Values within a tolerance of each other deviate by less than it, so only such groups need the exact check.
    const isNear = counts[group] > 1 && stds[group] <= toleranceAt(means[group]);
    allEqual[group] = Number(isNear);
    numNearlyEqual += allEqual[group];
  }
  if (numNearlyEqual > 0) keepEqual(allEqual, { values, groupIds, means });
  return { counts, means, stds, allEqual };
}

/** Whether two returns count as equal, as those of a group in `allEqual` do: sums of the same rewards may differ by rounding. */
export function areEqualReturns(left: number, right: number): boolean {
  return Math.abs(left - right) <= toleranceAt(Math.max(Math.abs(left), Math.abs(right)));
}

function toleranceAt(mean: number): number {
  return EQUALITY_TOLERANCE * Math.max(1, Math.abs(mean));
}

/** Removes the mark of groups whose largest and smallest values are further apart than the tolerance. */
function keepEqual(
  allEqual: Uint8Array,
  { values, groupIds, means }: { values: NumericArray; groupIds: Int32Array; means: Float64Array },
): void {
  const least = new Float64Array(means.length).fill(Infinity);
  const most = new Float64Array(means.length).fill(-Infinity);
  for (let i = 0; i < values.length; i++) {
    const group = groupIds[i];
    if (allEqual[group] === 0) continue;
    if (values[i] < least[group]) least[group] = values[i];
    if (values[i] > most[group]) most[group] = values[i];
  }
  for (let group = 0; group < allEqual.length; group++) {
    if (allEqual[group] === 1)
      allEqual[group] = Number(most[group] - least[group] <= toleranceAt(means[group]));
  }
}

/** Numbers of groups, and of those without a signal of their own. */
export interface GroupSignalCounts {
  readonly numGroups: number;
  readonly numSingletonGroups: number;
  /** Groups of two or more whose values are all equal. */
  readonly numEqualGroups: number;
}

export function countGroups({ counts, allEqual }: GroupMoments): GroupSignalCounts {
  let numGroups = 0;
  let numSingletonGroups = 0;
  let numEqualGroups = 0;
  for (let group = 0; group < counts.length; group++) {
    if (counts[group] > 0) numGroups += 1;
    if (counts[group] === 1) numSingletonGroups += 1;
    numEqualGroups += allEqual[group];
  }
  return { numGroups, numSingletonGroups, numEqualGroups };
}
