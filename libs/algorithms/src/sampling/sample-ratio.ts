/** A ratio of samples to inserts to hold, counted in groups (Cassirer et al. 2021, "Reverb", arXiv:2102.04736). */
export interface SampleRatio {
  /** Times that a group should be sampled, on average. */
  readonly samplesPerInsert: number;
  /** Bounds of the difference, inserts · samplesPerInsert − samples. */
  readonly minDiff: number;
  readonly maxDiff: number;
}

export interface RatioCounts {
  /** Groups that were inserted and can be sampled; those that never can be do not count. */
  readonly numInserted: number;
  /** Groups that were sampled, each as often as it was. */
  readonly numSampled: number;
}

/** Inserts · samplesPerInsert − samples. */
export function ratioDifference(
  { numInserted, numSampled }: RatioCounts,
  { samplesPerInsert }: SampleRatio,
): number {
  return numInserted * samplesPerInsert - numSampled;
}

/** Why so many groups may not be inserted now, in words; null when they may. */
export function insertBlock(counts: RatioCounts, ratio: SampleRatio, numGroups: number): string | null {
  const after = ratioDifference({ ...counts, numInserted: counts.numInserted + numGroups }, ratio);
  if (after <= ratio.maxDiff) return null;
  return `${describe(counts, ratio)}; ${numGroups} groups more would make it ${round(after)}, above maxDiff ${ratio.maxDiff}`;
}

/** Why so many groups may not be sampled now, in words; null when they may. */
export function sampleBlock(counts: RatioCounts, ratio: SampleRatio, numGroups: number): string | null {
  const after = ratioDifference({ ...counts, numSampled: counts.numSampled + numGroups }, ratio);
  if (after >= ratio.minDiff) return null;
  return `${describe(counts, ratio)}; ${numGroups} samples more would make it ${round(after)}, below minDiff ${ratio.minDiff}`;
}

/**
 * The least room between the bounds at which the two sides never wait for each other: with less, both can be blocked at once.
 *
 * @param sizes groups of one insert, and of one sample
 */
export function leastRatioRoom(
  samplesPerInsert: number,
  { inserted, sampled }: { readonly inserted: number; readonly sampled: number },
): number {
  return samplesPerInsert * inserted + sampled;
}

function describe(counts: RatioCounts, ratio: SampleRatio): string {
  const { numInserted, numSampled } = counts;
  return `${numInserted} groups × ${ratio.samplesPerInsert} samples − ${numSampled} sampled = ${round(ratioDifference(counts, ratio))}`;
}

function round(value: number): number {
  return Number(value.toFixed(3));
}
