import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { keys, unlessRefused } from './queries';
import type { WhatIf, WhatIfItem, WhatIfRequest } from '../api-types/schema';

/** A server keeps 20 that have ended. */
const MAX_WHAT_IFS = 50;
const POLL_MS = 1_000;

export function hasEnded({ status }: Pick<WhatIfItem, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

/** The what-ifs of a run, newest first. */
export function useWhatIfs(runId: string) {
  return useQuery({
    queryKey: keys.whatIfs(runId),
    queryFn: async ({ signal }) => {
      const params = { path: { runId }, query: { limit: MAX_WHAT_IFS } };
      return (await awaitData(api.GET('/api/runs/{runId}/what-ifs', { params, signal }))).items;
    },
    refetchInterval: (query) => unlessRefused(query.state.data?.every(hasEnded) === false && POLL_MS)(query),
  });
}

/** One what-if, until it has ended. */
export function useWhatIf(runId: string, whatIfId: string) {
  return useQuery({
    queryKey: [...keys.whatIfs(runId), whatIfId],
    queryFn: ({ signal }): Promise<WhatIf> => {
      const params = { path: { runId, whatIfId } };
      return awaitData(api.GET('/api/runs/{runId}/what-ifs/{whatIfId}', { params, signal }));
    },
    refetchInterval: (query) =>
      unlessRefused(query.state.data !== undefined && !hasEnded(query.state.data) && POLL_MS)(query),
  });
}

export function useAskWhatIf(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: WhatIfRequest): Promise<WhatIf> =>
      awaitData(api.POST('/api/runs/{runId}/what-ifs', { params: { path: { runId } }, body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.whatIfs(runId) }),
  });
}

export function useCancelWhatIf(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (whatIfId: string): Promise<WhatIf> =>
      awaitData(
        api.PATCH('/api/runs/{runId}/what-ifs/{whatIfId}', {
          ...{ params: { path: { runId, whatIfId } }, body: { status: 'cancelled' } },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.whatIfs(runId) }),
  });
}
