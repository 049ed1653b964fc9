import type { EpisodeListItem } from '../api-types/schema';

/** Formats the policy versions of an episode: `12`, or `12–14` when the weights changed during it. */
export function formatVersions({
  policyVersionMin: min,
  policyVersionMax: max,
}: Pick<EpisodeListItem, 'policyVersionMin' | 'policyVersionMax'>): string {
  if (min === null || max === null) return '–';
  return min === max ? `${min}` : `${min}–${max}`;
}

/** Time from the start to the end of an episode in ms; null until it ends. */
export function episodeDurationMs({
  startedAt,
  endedAt,
}: Pick<EpisodeListItem, 'startedAt' | 'endedAt'>): number | null {
  return endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
}
