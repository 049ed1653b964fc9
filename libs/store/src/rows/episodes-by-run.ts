import type { EpisodeOfRun } from '@retrace/trajectory';

/** Episode ids in one statement: about 40 kB of its text. */
export const IDS_PER_STATEMENT = 1_000;

/** Splits episodes into lists of one run each, of at most `IDS_PER_STATEMENT`. */
export function episodesByRun(
  episodes: readonly EpisodeOfRun[],
): { readonly runId: string; readonly episodeIds: string[] }[] {
  const open = new Map<string, { readonly runId: string; readonly episodeIds: string[] }>();
  const lists: { readonly runId: string; readonly episodeIds: string[] }[] = [];
  for (const { runId, episodeId } of episodes) {
    let list = open.get(runId);
    if (list === undefined || list.episodeIds.length === IDS_PER_STATEMENT) {
      list = { runId, episodeIds: [] };
      open.set(runId, list);
      lists.push(list);
    }
    list.episodeIds.push(episodeId);
  }
  return lists;
}
