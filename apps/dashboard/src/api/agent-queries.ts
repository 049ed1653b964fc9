import { useMutation, useQuery } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { unlessRefused } from './queries';
import type { AskPolicyRequest } from '../api-types/schema';

const NO_PROXY_POLL_MS = 10_000;
/** The server may have been started again, at another port, or may have got its first key. */
const PROXY_POLL_MS = 30_000;
const CAPTURED_POLL_MS = 2_000;
const MAX_CAPTURED = 3;

/** The proxy that this server runs for agents; null where it runs none, which it may do a moment after its start. */
export function useAgentProxy() {
  return useQuery({
    queryKey: ['agents'],
    queryFn: async ({ signal }) => (await awaitData(api.GET('/api/agents', { signal }))).proxy,
    refetchInterval: (query) => unlessRefused(query.state.data ? PROXY_POLL_MS : NO_PROXY_POLL_MS)(query),
  });
}

/** The newest calls of agents, as episodes of the run that they are recorded in; empty before the first. */
export function useCapturedCalls(runName: string) {
  return useQuery({
    queryKey: ['agents', 'captured', runName],
    queryFn: async ({ signal }) => {
      const query = { kind: 'recorded', search: runName, limit: 50 } as const;
      const { items: runs } = await awaitData(api.GET('/api/runs', { params: { query }, signal }));
      const run = runs.find(({ name }) => name === runName);
      if (run === undefined) return [];
      const params = { path: { runId: run.runId }, query: { limit: MAX_CAPTURED } };
      const { items } = await awaitData(api.GET('/api/runs/{runId}/episodes', { params, signal }));
      return items.map((episode) => ({ ...episode, runId: run.runId }));
    },
    refetchInterval: unlessRefused(CAPTURED_POLL_MS),
  });
}

export function useAskPolicy(runId: string) {
  return useMutation({
    mutationFn: (body: AskPolicyRequest) =>
      awaitData(api.POST('/api/runs/{runId}/answers', { params: { path: { runId } }, body })),
  });
}
