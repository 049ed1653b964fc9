import { useMutation, useQuery } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { unlessRefused } from './queries';
import type { Replay } from '../api-types/schema';
import { hasEnded } from './what-if-queries';

const POLL_MS = 500;

/** Has an update made again. */
export function useAskReplay(runId: string) {
  return useMutation({
    mutationFn: (updateNumber: number): Promise<Replay> =>
      awaitData(
        api.POST('/api/runs/{runId}/replays', { params: { path: { runId } }, body: { updateNumber } }),
      ),
  });
}

/** A replay that was asked for, until it has ended; undefined without one. */
export function useReplay(asked: Replay | undefined) {
  return useQuery({
    enabled: asked !== undefined,
    queryKey: ['replays', asked?.replayId],
    queryFn: ({ signal }): Promise<Replay> => {
      const params = { path: { runId: asked?.runId ?? '', replayId: asked?.replayId ?? '' } };
      return awaitData(api.GET('/api/runs/{runId}/replays/{replayId}', { params, signal }));
    },
    initialData: asked,
    // One that has ended stays as it is, also where the server has forgotten it.
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: (query) =>
      unlessRefused(query.state.data !== undefined && !hasEnded(query.state.data) && POLL_MS)(query),
  });
}

export function useCancelReplay() {
  return useMutation({
    mutationFn: ({ runId, replayId }: Replay): Promise<Replay> =>
      awaitData(
        api.PATCH('/api/runs/{runId}/replays/{replayId}', {
          ...{ params: { path: { runId, replayId } }, body: { status: 'cancelled' } },
        }),
      ),
  });
}
