import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState } from 'react';
import { ChangeBuffer } from './change-buffer';
import { LiveStream, type LiveState } from './live-stream';

const POLL_MS = 3_000;
const LIVE_REFETCH_MS = 30_000;

const LiveContext = createContext<LiveState>('polling');
export const LiveProvider = LiveContext.Provider;

/** Interval at which the queries of a run refetch, in ms: longer while the live stream keeps them fresh. */
export function useRefetchMs(): number {
  return useContext(LiveContext) === 'live' ? LIVE_REFETCH_MS : POLL_MS;
}

/** Follows a run, once there is one, until the component unmounts: merges new metrics into the cached series and refetches other data that changed. */
export function useLiveRun(runId: string | null): LiveState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');

  useEffect(() => {
    if (runId === null) return;
    const changes = new ChangeBuffer(queryClient, runId);
    const stream = new LiveStream(`/api/runs/${encodeURIComponent(runId)}/live`, changes, setState);
    return () => {
      stream.close();
      changes.close();
    };
  }, [queryClient, runId]);

  return state;
}
