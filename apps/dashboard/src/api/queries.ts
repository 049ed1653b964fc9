import {
  hashKey,
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { shownMoment } from '../as-of/shown-moment';
import { ApiProblem } from './api-problem';
import { api, awaitData } from './client';
import type { paths, PlayDetail, RunDetail, RunTotals, SessionStatus } from '../api-types/schema';

export const MAX_CHART_POINTS = 1000;
export const RUNS_PAGE_SIZE = 50;
const MAX_RETRIES = 3;
const HEALTH_POLL_MS = 2_000;
const NOT_FOUND_POLL_MS = 10_000;
/** A server that is stopped or stuck accepts connections and does not answer. */
const HEALTH_TIMEOUT_MS = 5_000;

/**
 * Failed queries are retried only when the problem may pass by itself. After one that lacked a key, it is asked whether the page has one,
 * which shows the login form where it has none.
 */
export function createQueryClient(): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiProblem && error.status === 401)
      void client.invalidateQueries({ queryKey: keys.session });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // The server may be on this machine, which needs no network.
        networkMode: 'always',
        // What one moment shows is not what another does.
        queryKeyHashFn: (key) => hashKey(isOfNow(key) ? key : [shownMoment(), ...key]),
        staleTime: 1_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => error instanceof ApiProblem && error.retriable && failures < MAX_RETRIES,
        retryDelay: (failures) => Math.min(500 * 2 ** failures, 4_000),
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}

/**
 * Asks again in intervals, as long as the server does not refuse the request: it would refuse it each time. What is not found may not be stored yet, and
 * is asked for now and then. An earlier moment does not change.
 */
export function unlessRefused(intervalMs: number | false) {
  return ({ state: { error }, queryKey }: PolledQuery): number | false => {
    if (shownMoment() !== null && !isOfNow(queryKey)) return false;
    if (intervalMs !== false && error instanceof ApiProblem && error.status === 404)
      return Math.max(intervalMs, NOT_FOUND_POLL_MS);
    return isRefusal(error) ? false : intervalMs;
  };
}

export function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.isRefusal;
}

/** First words of keys of what is the same whatever moment is shown. */
const OF_NOW: ReadonlySet<unknown> = new Set([
  ...['session', 'health', 'agents', 'queue', 'recipes', 'replays', 'sql', 'whole-run'],
]);

function isOfNow([first, , third]: QueryKey): boolean {
  return OF_NOW.has(first) || (first === 'runs' && third === 'what-ifs');
}

interface PolledQuery {
  readonly queryKey: QueryKey;
  readonly state: { readonly error: Error | null };
}

/** Keys of the cached queries; the keys of everything in a run start with the key of the run. */
export const keys = {
  session: ['session'] as const,
  runs: ['runs'] as const,
  runLists: ['runs', 'list'] as const,
  runList: (filter: RunFilter) => ['runs', 'list', filter] as const,
  run: (runId: string) => ['runs', runId] as const,
  metrics: (runId: string) => ['runs', runId, 'metrics'] as const,
  allMetrics: (runId: string) => ['runs', runId, 'all-metrics'] as const,
  userMetric: (runId: string, query: string) => ['user-metric', runId, query] as const,
  episodes: (runId: string) => ['runs', runId, 'episodes'] as const,
  updates: (runId: string) => ['runs', runId, 'updates'] as const,
  warnings: (runId: string) => ['runs', runId, 'warnings'] as const,
  samplingBlocks: (runId: string) => ['runs', runId, 'sampling-blocks'] as const,
  validations: (runId: string) => ['runs', runId, 'validations'] as const,
  rewardVersions: (runId: string) => ['runs', runId, 'reward-versions'] as const,
  /** Not below the run: what the run records changes no answer about scores. */
  rewardAnswers: (runId: string) => ['reward-answers', runId] as const,
  whatIfs: (runId: string) => ['runs', runId, 'what-ifs'] as const,
  targets: (runId: string) => ['runs', runId, 'targets'] as const,
  recipeDifferences: (runId: string, otherRunId: string) =>
    ['runs', runId, 'recipe-differences', otherRunId] as const,
  totals: (runId: string) => ['runs', runId, 'totals'] as const,
  datasets: ['datasets'] as const,
  plays: ['plays'] as const,
  alarms: ['alarms'] as const,
  silences: ['alarms', 'silences'] as const,
  notebooks: ['notebooks'] as const,
};

/** Whether this page needs a key, and which it has. */
export function useSession() {
  return useQuery({
    queryKey: keys.session,
    queryFn: ({ signal }) => awaitData(api.GET('/api/session', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Logs this browser in by a key, or out with `null`; everything that was read before is forgotten. */
export function useLogin() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (key: string | null): Promise<SessionStatus> =>
      awaitData(key === null ? api.DELETE('/api/session') : api.POST('/api/session', { body: { key } })),
    onSuccess: (session) => {
      client.setQueryData(keys.session, session);
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
    },
  });
}

export function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) =>
      awaitData(
        api.GET('/api/health', { signal: AbortSignal.any([signal, AbortSignal.timeout(HEALTH_TIMEOUT_MS)]) }),
      ),
    refetchInterval: unlessRefused(HEALTH_POLL_MS),
    retry: false,
  });
}

/** Which runs, and in which order. */
export type RunFilter = Omit<
  NonNullable<paths['/api/runs']['get']['parameters']['query']>,
  'limit' | 'cursor'
>;

export function useRuns(filter: RunFilter = {}) {
  return useInfiniteQuery({
    queryKey: keys.runList(filter),
    queryFn: ({ signal, pageParam: cursor }) => {
      const query = { ...filter, limit: RUNS_PAGE_SIZE, cursor };
      return awaitData(api.GET('/api/runs', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    // A sort by a metric reads that of every run.
    refetchInterval: unlessRefused(filter.sort === 'metric' ? 15_000 : 4_000),
  });
}

interface RunQueryOptions {
  readonly refetchMs: number | false;
  readonly isEnabled?: boolean;
}

export function useRun(runId: string, { refetchMs, isEnabled = true }: RunQueryOptions) {
  return useQuery({
    enabled: isEnabled,
    queryKey: keys.run(runId),
    queryFn: ({ signal }): Promise<RunDetail> =>
      awaitData(api.GET('/api/runs/{runId}', { params: { path: { runId } }, signal })),
    refetchInterval: unlessRefused(refetchMs),
  });
}

/** Totals of a run, which take the store longer the larger the run is. */
export function useRunTotals(runId: string, options: { readonly refetchMs: number }) {
  return useQuery({
    queryKey: keys.totals(runId),
    queryFn: ({ signal }): Promise<RunTotals> =>
      awaitData(api.GET('/api/runs/{runId}/totals', { params: { path: { runId } }, signal })),
    refetchInterval: unlessRefused(options.refetchMs),
  });
}

export function useMetrics(runId: string, names: readonly string[], options: { readonly refetchMs: number }) {
  return useQuery({
    queryKey: keys.metrics(runId),
    queryFn: async ({ signal }) => {
      const query = { names: names.join(','), maxPoints: MAX_CHART_POINTS };
      const params = { path: { runId }, query };
      return (await awaitData(api.GET('/api/runs/{runId}/metrics', { params, signal }))).series;
    },
    refetchInterval: unlessRefused(options.refetchMs),
  });
}

/** One page of a list: `cursor` comes from the page before it. */
export interface PageRequest {
  readonly cursor: string | null;
  readonly limit: number;
  readonly refetchMs: number | false;
}

/** The newest warnings of a run. */
export function useWarnings(runId: string, { limit, refetchMs }: Omit<PageRequest, 'cursor'>) {
  return useQuery({
    queryKey: [...keys.warnings(runId), limit],
    queryFn: ({ signal }) => {
      const params = { path: { runId }, query: { limit } };
      return awaitData(api.GET('/api/runs/{runId}/warnings', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: unlessRefused(refetchMs),
  });
}

/** The last time that the limiter of samples and inserts made a side of the run wait. */
export function useLastSamplingBlock(runId: string, refetchMs: PageRequest['refetchMs']) {
  return useQuery({
    queryKey: keys.samplingBlocks(runId),
    queryFn: async ({ signal }) => {
      const params = { path: { runId }, query: { limit: 1 } };
      const page = await awaitData(api.GET('/api/runs/{runId}/sampling-blocks', { params, signal }));
      return page.items[0] ?? null;
    },
    refetchInterval: unlessRefused(refetchMs),
  });
}

/** The fields in which the recipes of two runs differ. */
export function useRecipeDifferences(runId: string, otherRunId: string) {
  return useQuery({
    queryKey: keys.recipeDifferences(runId, otherRunId),
    queryFn: async ({ signal }) => {
      const params = { path: { runId, otherRunId } };
      const path = '/api/runs/{runId}/recipe-differences/{otherRunId}';
      return (await awaitData(api.GET(path, { params, signal }))).fields;
    },
  });
}

export function usePlays() {
  return useInfiniteQuery({
    queryKey: keys.plays,
    queryFn: ({ signal, pageParam: cursor }) =>
      awaitData(api.GET('/api/plays', { params: { query: { limit: RUNS_PAGE_SIZE, cursor } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
  });
}

/** A play, read again while it goes on. */
export function usePlay(playId: string) {
  return useQuery({
    queryKey: [...keys.plays, playId],
    queryFn: ({ signal }): Promise<PlayDetail> =>
      awaitData(api.GET('/api/plays/{playId}', { params: { path: { playId } }, signal })),
    refetchInterval: (query) => unlessRefused(query.state.data?.isComplete === false && 5_000)(query),
  });
}
