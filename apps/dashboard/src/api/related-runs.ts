import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client';
import { keys, type RunFilter, RUNS_PAGE_SIZE, unlessRefused } from './queries';

/** The newest runs of the recipe of a run, whatever their seed. */
export function useSeedsOf(runId: string) {
  return useRelatedRuns({ seedsOf: runId }, false);
}

/** The newest runs that started from a policy of a run. */
export function useForksOf(runId: string, refetchMs: number | false) {
  return useRelatedRuns({ startedFrom: runId }, refetchMs);
}

function useRelatedRuns(relation: Pick<RunFilter, 'seedsOf' | 'startedFrom'>, refetchMs: number | false) {
  return useQuery({
    queryKey: keys.runList(relation),
    queryFn: async ({ signal }) => {
      const params = { query: { ...relation, archived: 'all' as const, limit: RUNS_PAGE_SIZE } };
      return (await dataOf(api.GET('/api/runs', { params, signal }))).items;
    },
    refetchInterval: unlessRefused(refetchMs),
  });
}
