import { useQuery } from '@tanstack/react-query';
import { hasEnded } from '../format/run-state';
import { api, awaitData } from './client';
import { keys, type RunFilter, RUNS_PAGE_SIZE, unlessRefused } from './queries';
import type { RunDetail } from '../api-types/schema';

const FORKS_REFETCH_MS = 30_000;

/** The newest runs of the recipe of a run, whatever their seed. */
export function useSeeds(runId: string) {
  return useRelatedRuns({ seedsOf: runId }, false);
}

/** The newest runs that started from a policy of a run; asked again only while that goes on. */
export function useForks(run: Pick<RunDetail, 'runId' | 'status'>) {
  return useRelatedRuns({ startedFrom: run.runId }, hasEnded(run) ? false : FORKS_REFETCH_MS);
}

function useRelatedRuns(relation: Pick<RunFilter, 'seedsOf' | 'startedFrom'>, refetchMs: number | false) {
  return useQuery({
    queryKey: keys.runList(relation),
    queryFn: async ({ signal }) => {
      const params = { query: { ...relation, archived: 'all' as const, limit: RUNS_PAGE_SIZE } };
      return (await awaitData(api.GET('/api/runs', { params, signal }))).items;
    },
    refetchInterval: unlessRefused(refetchMs),
  });
}
