import { useMutation, useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client';
import { keys, unlessRefused } from './queries';
import type { Replay } from './schema';
import { hasEnded } from './what-if-queries';

const POLL_MS = 500;

/** Has an update made again. */
export function useAskReplay(runId: string) {
  return useMutation({
    mutationFn: (updateNumber: number): Promise<Replay> =>
      dataOf(api.POST('/api/runs/{runId}/replays', { params: { path: { runId } }, body: { updateNumber } })),
  });
}

/** A replay that was asked for, until it has ended. */
export function useReplay(asked: Replay) {
  const { runId, replayId } = asked;
  return useQuery({
    queryKey: [...keys.updates(runId), 'replays', replayId],
    queryFn: ({ signal }): Promise<Replay> => {
      const params = { path: { runId, replayId } };
      return dataOf(api.GET('/api/runs/{runId}/replays/{replayId}', { params, signal }));
    },
    initialData: asked,
    refetchInterval: (query) =>
      unlessRefused(query.state.data !== undefined && !hasEnded(query.state.data) && POLL_MS)(query),
  });
}
