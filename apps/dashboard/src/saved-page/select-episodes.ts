import type { EpisodeDetail } from '../api-types/schema';

type Condition = (episode: EpisodeDetail, wanted: string) => boolean;

/** Conditions by the filter of the list of episodes, as the API has them (`apps/api/src/episodes/episode-filter.ts`). */
const CONDITIONS: Readonly<Record<string, Condition>> = {
  split: ({ split }, wanted) => split === wanted,
  agent: ({ agent }, wanted) => agent === wanted,
  sealed: ({ sealed }, wanted) => `${sealed}` === wanted,
  success: ({ success }, wanted) => `${success}` === wanted,
  endReason: ({ endReason }, wanted) => endReason === wanted,
  groupId: ({ groupId }, wanted) => groupId === wanted,
  tag: ({ tags }, wanted) => tags.includes(wanted),
  update: ({ updateNumbers }, wanted) => updateNumbers.includes(Number(wanted)),
  poorer: ({ numPoorerSteps }, wanted) => `${numPoorerSteps > 0}` === wanted,
  minReturn: (episode, wanted) => episode.return !== null && episode.return >= Number(wanted),
  maxReturn: (episode, wanted) => episode.return !== null && episode.return <= Number(wanted),
  minCostUsd: ({ costUsd }, wanted) => costUsd !== null && costUsd >= Number(wanted),
  maxCostUsd: ({ costUsd }, wanted) => costUsd !== null && costUsd <= Number(wanted),
  startedFrom: ({ startedAt }, wanted) => Date.parse(startedAt) >= Date.parse(wanted),
  startedBefore: ({ startedAt }, wanted) => Date.parse(startedAt) < Date.parse(wanted),
  text: hasText,
};

function hasText({ steps, finalObservation }: EpisodeDetail, wanted: string): boolean {
  const texts = steps.flatMap(({ observation, action, messages }) => [
    observation,
    action,
    messages === null ? '' : JSON.stringify(messages),
  ]);
  const lowered = wanted.toLowerCase();
  return [...texts, finalObservation ?? ''].some((text) => text.toLowerCase().includes(lowered));
}

/**
 * Filters and sorts episodes as the API does.
 *
 * @param episodes the newest first
 * @param query of the list of episodes
 */
export function selectEpisodes(episodes: readonly EpisodeDetail[], query: URLSearchParams): EpisodeDetail[] {
  const conditions = [...query].flatMap(([name, wanted]) => {
    const condition = CONDITIONS[name];
    return condition === undefined ? [] : [(episode: EpisodeDetail) => condition(episode, wanted)];
  });
  const selected = episodes.filter((episode) => conditions.every((passes) => passes(episode)));
  return query.get('sort') === 'oldest' ? selected.toReversed() : selected;
}
