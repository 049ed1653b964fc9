import type { RewardVersionItem } from '../api/schema';

export const SCORED_SPLITS = ['train', 'validation', 'test'] as const;
export type ScoredSplit = (typeof SCORED_SPLITS)[number];

/** Choices of the page of rewards; its address keeps them. */
export interface RewardsView {
  readonly version: string;
  /** Compared with it; null = none. */
  readonly otherVersion: string | null;
  /** null = all episodes. */
  readonly split: ScoredSplit | null;
}

/** Episodes of other splits are no ground to judge training by, so those of training are shown first. */
const DEFAULT_SPLIT: ScoredSplit = 'train';

/**
 * Reads the view from an address. A version that the run has no scores of is left out.
 *
 * @param versions named last first, at least one
 */
export function readRewardsView(
  search: URLSearchParams,
  versions: readonly RewardVersionItem[],
): RewardsView {
  const known = (wanted: string | null) =>
    versions.find(({ version, name }) => version === wanted || name === wanted)?.version ?? null;
  const version = known(search.get('version')) ?? versions[0].version;
  const other = known(search.get('against'));
  const split = search.get('split') ?? DEFAULT_SPLIT;
  return {
    version,
    otherVersion: other === version ? null : other,
    split: SCORED_SPLITS.find((word) => word === split) ?? (split === 'all' ? null : DEFAULT_SPLIT),
  };
}

/** The address of a view. */
export function writeRewardsView({ version, otherVersion, split }: RewardsView): URLSearchParams {
  const search = new URLSearchParams({ version });
  if (otherVersion !== null) search.set('against', otherVersion);
  if (split !== DEFAULT_SPLIT) search.set('split', split ?? 'all');
  return search;
}

/** Each version once, with all its names. */
export function namedVersions(
  versions: readonly RewardVersionItem[],
): readonly { readonly version: string; readonly label: string }[] {
  const names = new Map<string, string[]>();
  for (const { version, name } of versions) names.set(version, [...(names.get(version) ?? []), name]);
  return [...names].map(([version, labels]) => ({ version, label: labels.join(', ') }));
}
