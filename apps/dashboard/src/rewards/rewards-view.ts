import type { RewardVersionItem } from '../api-types/schema';
import { formatMoment } from '../format/times';

export const SCORED_SPLITS = ['train', 'validation', 'test', 'all'] as const;
export type ScoredSplit = (typeof SCORED_SPLITS)[number];

/** Choices of the page of rewards; its address keeps them. */
export interface RewardsView {
  readonly version: string;
  /** Compared with it; null = none. */
  readonly otherVersion: string | null;
  readonly split: ScoredSplit;
}

/** Training is judged by the episodes of training. */
const DEFAULT_SPLIT: ScoredSplit = 'train';

/**
 * Reads the view from an address. A version that the run has no scores of is left out.
 *
 * @param versions with the newest name first, at least one
 * @param first the version where the address names none
 */
export function readRewardsView(
  search: URLSearchParams,
  versions: readonly RewardVersionItem[],
  first: string,
): RewardsView {
  const known = (wanted: string | null) =>
    versions.find(({ version, name }) => version === wanted || name === wanted)?.version ?? null;
  const version = known(search.get('version')) ?? first;
  const other = known(search.get('against'));
  const split = search.get('split');
  return {
    version,
    otherVersion: other === version ? null : other,
    split: SCORED_SPLITS.find((word) => word === split) ?? DEFAULT_SPLIT,
  };
}

/** The address of a view. */
export function writeRewardsView({ version, otherVersion, split }: RewardsView): URLSearchParams {
  const search = new URLSearchParams({ version });
  if (otherVersion !== null) search.set('against', otherVersion);
  if (split !== DEFAULT_SPLIT) search.set('split', split);
  return search;
}

/** A name for each version: all that it was given, and its beginning and time where another version was given one of them, too. */
export function versionLabels(versions: readonly RewardVersionItem[]): ReadonlyMap<string, string> {
  const isShared = ({ version, name }: RewardVersionItem) =>
    versions.some((other) => other.name === name && other.version !== version);
  return new Map(
    versions.map(({ version }) => {
      const items = versions.filter((item) => item.version === version);
      const names = items.map(({ name }) => name).join(', ');
      const more = ` (${version.slice(0, 8)}, ${formatMoment(items[0].namedAt)})`;
      return [version, items.some(isShared) ? names + more : names];
    }),
  );
}
