import { type QueryKey, useQueries } from '@tanstack/react-query';
import { hasEnded } from '../format/run-state';
import { api, awaitData } from './client';
import { combineQueries } from './combine-queries';
import { keys, MAX_CHART_POINTS, unlessRefused } from './queries';
import type { MetricSeries, RunDetail } from '../api-types/schema';

/** A run with all of its metrics. */
export interface ComparedRun {
  readonly run: RunDetail;
  readonly series: readonly MetricSeries[];
}

interface ReadQuery {
  readonly queryKey: QueryKey;
  readonly state: { readonly data?: ComparedRun; readonly error: Error | null };
}

const REFETCH_MS = 5_000;

async function readRun(runId: string, signal: AbortSignal): Promise<ComparedRun> {
  const path = { runId };
  const [run, { series }] = await Promise.all([
    awaitData(api.GET('/api/runs/{runId}', { params: { path }, signal })),
    awaitData(
      api.GET('/api/runs/{runId}/metrics', {
        params: { path, query: { maxPoints: MAX_CHART_POINTS } },
        signal,
      }),
    ),
  ]);
  return { run, series };
}

/** All metrics of these runs, in their order, as far as they are read; those that go on are read again every few seconds. */
export function useComparedRuns(runIds: readonly string[]) {
  return useQueries({
    queries: runIds.map((runId) => ({
      queryKey: keys.allMetrics(runId),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => readRun(runId, signal),
      refetchInterval: (query: ReadQuery) =>
        unlessRefused(query.state.data && hasEnded(query.state.data.run) ? false : REFETCH_MS)(query),
    })),
    combine: combineQueries,
  });
}
