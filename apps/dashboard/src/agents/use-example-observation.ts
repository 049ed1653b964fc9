import { useQuery } from '@tanstack/react-query';
import { api, awaitData } from '../api/client';

const NONE_YET_POLL_MS = 5_000;

/** An observation that a policy of the run saw, the same for as long as the page is open; '' while none is known. */
export function useExampleObservation(runId: string): string {
  const { data } = useQuery({
    queryKey: ['example-observation', runId],
    queryFn: async ({ signal }) => {
      const query = { agent: 'policy', sealed: true, limit: 1 } as const;
      const listed = api.GET('/api/runs/{runId}/episodes', { params: { path: { runId }, query }, signal });
      const episode = (await awaitData(listed)).items.at(0);
      if (episode === undefined) return '';
      const params = { path: { runId, episodeId: episode.episodeId }, query: { maxSteps: 1 } };
      const { steps } = await awaitData(
        api.GET('/api/runs/{runId}/episodes/{episodeId}', { params, signal }),
      );
      return steps.at(0)?.observation ?? '';
    },
    staleTime: Number.POSITIVE_INFINITY,
    // Until the first episode is stored.
    refetchInterval: (query) => (query.state.data === '' ? NONE_YET_POLL_MS : false),
  });
  return data ?? '';
}
