import { checkCount, SamplingError } from './sampling-error.js';

/** A source of groups: its share, and the groups that it gave so far. */
export interface SharedSource {
  /** Relative to the other shares; 0 = it can give nothing now. */
  readonly share: number;
  readonly numGiven: number;
}

/**
 * Divides the next groups among sources so that all groups so far come as near to the shares as whole groups can: each goes to the source with the
 * largest share/(2·given + 1) (Sainte-Laguë), of several the first. Whenever all shares of the total are whole numbers, the division is exact; and
 * dividing in two steps gives what one step gives.
 *
 * @returns groups of each source `[S]`
 * @throws SamplingError `INVALID_ARGUMENT` when no source has a share
 */
export function divideByShare(sources: readonly SharedSource[], numGroups: number): Int32Array {
  checkCount('numGroups', numGroups);
  const given = sources.map(({ numGiven }) => numGiven);
  const counts = new Int32Array(sources.length);
  if (numGroups > 0 && !sources.some(({ share }) => share > 0))
    throw new SamplingError('INVALID_ARGUMENT', 'no source has a share above 0');
  for (let g = 0; g < numGroups; g++) {
    let best = -1;
    sources.forEach(({ share }, s) => {
      if (!(share > 0)) return;
      if (best < 0 || isAhead(share / (2 * given[s] + 1), sources[best].share / (2 * given[best] + 1)))
        best = s;
    });
    given[best] += 1;
    counts[best] += 1;
  }
  return counts;
}

/** Quotients that differ only by rounding are equal, so that the first source has a tie. */
function isAhead(one: number, other: number): boolean {
  return one > other * (1 + 1e-12);
}
