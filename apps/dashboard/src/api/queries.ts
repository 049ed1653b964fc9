import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { ApiProblem, getJson, pathWithQuery, postJson } from './client';
import type {
  EpisodeDetail,
  EpisodeSummary,
  Health,
  MetricSeries,
  Page,
  RunDetail,
  RunSummary,
  SqlResult,
  SqlTable,
  Update,
} from './types';

export const MAX_CHART_POINTS = 1000;
const MAX_RETRIES = 3;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 1_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => error instanceof ApiProblem && error.retriable && failures < MAX_RETRIES,
        retryDelay: (failures) => Math.min(500 * 2 ** failures, 4_000),
      },
    },
  });
}

export const keys = {
  runs: ['runs'] as const,
  run: (runId: string) => ['runs', runId] as const,
  metrics: (runId: string) => ['runs', runId, 'metrics'] as const,
  episodes: (runId: string) => ['runs', runId, 'episodes'] as const,
  updates: (runId: string) => ['runs', runId, 'updates'] as const,
};

const runPath = (runId: string): string => `/api/runs/${encodeURIComponent(runId)}`;

export function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => getJson<Health>('/api/health', { signal }),
    refetchInterval: (query) => (query.state.data?.status === 'ok' ? 15_000 : 2_000),
    retry: false,
  });
}

export function useRuns() {
  return useInfiniteQuery({
    queryKey: keys.runs,
    queryFn: ({ signal, pageParam }) =>
      getJson<Page<RunSummary>>(pathWithQuery('/api/runs', { limit: 50, cursor: pageParam }), { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: 4_000,
  });
}

export function useRun(runId: string, options: { readonly refetchMs: number }) {
  return useQuery({
    queryKey: keys.run(runId),
    queryFn: ({ signal }) => getJson<RunDetail>(runPath(runId), { signal }),
    refetchInterval: options.refetchMs,
  });
}

export function useMetrics(runId: string, names: readonly string[], options: { readonly refetchMs: number }) {
  return useQuery({
    queryKey: keys.metrics(runId),
    queryFn: async ({ signal }) => {
      const path = pathWithQuery(`${runPath(runId)}/metrics`, {
        names: names.join(','),
        maxPoints: MAX_CHART_POINTS,
      });
      return (await getJson<{ series: readonly MetricSeries[] }>(path, { signal })).series;
    },
    refetchInterval: options.refetchMs,
  });
}

export interface EpisodeFilter {
  readonly split: string;
  readonly success: string;
  readonly sealed: string;
  readonly agent: string;
  readonly groupId: string;
  readonly update: string;
  readonly sort: string;
}

/** One page at a time: `cursor` comes from the page before. */
export function useEpisodes(
  runId: string,
  filter: EpisodeFilter,
  page: { readonly cursor: string | null; readonly limit: number; readonly refetchMs: number | false },
) {
  return useQuery({
    queryKey: [...keys.episodes(runId), filter, page.cursor, page.limit],
    queryFn: ({ signal }) =>
      getJson<Page<EpisodeSummary>>(
        pathWithQuery(`${runPath(runId)}/episodes`, { ...filter, cursor: page.cursor, limit: page.limit }),
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: page.refetchMs,
  });
}

export function useEpisode(runId: string, episodeId: string) {
  return useInfiniteQuery({
    queryKey: ['runs', runId, 'episode', episodeId],
    queryFn: ({ signal, pageParam }) =>
      getJson<EpisodeDetail>(
        pathWithQuery(`${runPath(runId)}/episodes/${encodeURIComponent(episodeId)}`, { fromStep: pageParam }),
        { signal },
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.nextStep,
    refetchInterval: (query) => (query.state.data?.pages[0]?.sealed === false ? 2_000 : false),
  });
}

export function useUpdates(
  runId: string,
  page: { readonly cursor: string | null; readonly limit: number; readonly refetchMs: number | false },
) {
  return useQuery({
    queryKey: [...keys.updates(runId), page.cursor, page.limit],
    queryFn: ({ signal }) =>
      getJson<Page<Update>>(
        pathWithQuery(`${runPath(runId)}/updates`, { cursor: page.cursor, limit: page.limit }),
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: page.refetchMs,
  });
}

export function useSqlSchema() {
  return useQuery({
    queryKey: ['sql', 'schema'],
    queryFn: async ({ signal }) =>
      (await getJson<{ tables: readonly SqlTable[] }>('/api/sql/schema', { signal })).tables,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useSql() {
  return useMutation({
    mutationFn: (query: { readonly query: string; readonly maxRows: number }) =>
      postJson<SqlResult>('/api/sql', query),
  });
}
