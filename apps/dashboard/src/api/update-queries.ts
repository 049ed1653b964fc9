import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { keys, type PageRequest, unlessRefused } from './queries';
import type { EpisodeUse, paths } from '../api-types/schema';

/** The updates of a run, newest first. */
export function useUpdates(runId: string, { cursor, limit, refetchMs }: PageRequest) {
  return useQuery({
    queryKey: [...keys.updates(runId), cursor, limit],
    queryFn: ({ signal }) => {
      const params = { path: { runId }, query: { cursor: cursor ?? undefined, limit } };
      return awaitData(api.GET('/api/runs/{runId}/updates', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: unlessRefused(refetchMs),
  });
}

export function useUpdate(runId: string, updateNumber: number) {
  return useQuery({
    queryKey: [...keys.updates(runId), updateNumber],
    queryFn: ({ signal }) => {
      const params = { path: { runId, updateNumber: `${updateNumber}` } };
      return awaitData(api.GET('/api/runs/{runId}/updates/{updateNumber}', { params, signal }));
    },
  });
}

/** They never change once they are stored. */
const TOKENS_FRESH_MS = 60_000;

type UpdateInputsQuery = NonNullable<
  paths['/api/runs/{runId}/updates/{updateNumber}/inputs']['get']['parameters']['query']
>;
/** How the episodes of an update are sorted, and which of them are listed. */
export type UpdateInputsOrder = Pick<UpdateInputsQuery, 'sort' | 'order' | 'success'>;

/** The episodes that fed an update. */
export function useUpdateInputs(
  runId: string,
  updateNumber: number,
  { cursor, limit, ...order }: Omit<PageRequest, 'refetchMs'> & UpdateInputsOrder,
) {
  return useQuery({
    queryKey: [...keys.updates(runId), updateNumber, 'inputs', cursor, limit, order],
    queryFn: ({ signal }) => {
      const path = { runId, updateNumber: `${updateNumber}` };
      const params = { path, query: { cursor: cursor ?? undefined, limit, ...order } };
      return awaitData(api.GET('/api/runs/{runId}/updates/{updateNumber}/inputs', { params, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** The figures that the loss of an update read of each token of an episode; empty where that was not recorded. */
export function useTrainedTokens(use: EpisodeUse | null, episodeId: string) {
  return useQuery({
    enabled: use !== null,
    // Not below the key of the updates, which are read again at each commit.
    queryKey: ['trained-tokens', use?.runId, use?.updateNumber, episodeId],
    staleTime: TOKENS_FRESH_MS,
    queryFn: ({ signal }) => {
      if (use === null) throw new TypeError('no update is looked at');
      const params = { path: { runId: use.runId, updateNumber: `${use.updateNumber}`, episodeId } };
      return awaitData(
        api.GET('/api/runs/{runId}/updates/{updateNumber}/inputs/{episodeId}/tokens', { params, signal }),
      );
    },
  });
}

/** Where the episodes of an update came from, and where those of its policy went. */
export function useUpdateLineage(runId: string, updateNumber: number) {
  return useQuery({
    queryKey: ['lineage', runId, updateNumber],
    queryFn: ({ signal }) => {
      const params = { path: { runId, updateNumber: `${updateNumber}` } };
      return awaitData(api.GET('/api/runs/{runId}/updates/{updateNumber}/lineage', { params, signal }));
    },
  });
}

/** Histograms over the episodes that fed an update. */
export function useUpdateDistributions(runId: string, updateNumber: number) {
  return useQuery({
    queryKey: [...keys.updates(runId), updateNumber, 'distributions'],
    queryFn: ({ signal }) => {
      const params = { path: { runId, updateNumber: `${updateNumber}` } };
      return awaitData(api.GET('/api/runs/{runId}/updates/{updateNumber}/distributions', { params, signal }));
    },
  });
}
