import type { EpisodeListItem } from '../api-types/schema';

type Member = Pick<EpisodeListItem, 'episodeId' | 'groupMember'>;

/**
 * The members of a group before and after one of them, by their place in the group; of those with one place, as when an episode was played again, by id.
 * Both null where the episode is not among them.
 */
export function groupNeighbours<One extends Member>(
  members: readonly One[],
  episodeId: string,
): { readonly previous: One | null; readonly next: One | null } {
  const inOrder = members.toSorted(
    (a, b) => a.groupMember - b.groupMember || (a.episodeId < b.episodeId ? -1 : 1),
  );
  const place = inOrder.findIndex((one) => one.episodeId === episodeId);
  if (place === -1) return { previous: null, next: null };
  return { previous: inOrder[place - 1] ?? null, next: inOrder[place + 1] ?? null };
}
