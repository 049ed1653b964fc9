import { useEpisodes, useEpisodesOf } from '../api/episode-queries';

/** An observation that the policies of the run saw; '' while none is known. */
export function useExampleObservation(runId: string): string {
  const filter = { agent: 'policy', sealed: true } as const;
  const newest = useEpisodes(runId, filter, { cursor: null, limit: 1, refetchMs: false });
  const ids = newest.data?.items.map(({ episodeId }) => episodeId) ?? [];
  const { items } = useEpisodesOf(runId, ids.slice(0, 1));
  return items.at(0)?.steps.at(0)?.observation ?? '';
}
