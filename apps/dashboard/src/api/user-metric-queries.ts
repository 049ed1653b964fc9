import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { hasEnded } from '../format/run-state';
import { MAX_POINTS, queryOfRun, type UserMetric } from '../metrics/user-metric';
import type { ComparedRun } from './compared-runs';
import { keys, unlessRefused } from './queries';
import type { SqlResult } from './schema';
import { askSql } from './sql-queries';

const REFETCH_MS = 15_000;

/** An answer, or why there is none; neither while it is waited for. */
export interface UserMetricAnswer {
  readonly result: SqlResult | undefined;
  readonly error: Error | null;
}

/** Asks each query for each run, as of the moment that the page shows: the answers of the first metric for all runs, then those of the second. */
export function useUserMetricAnswers(
  metrics: readonly UserMetric[],
  runs: readonly Pick<ComparedRun, 'run'>[],
): readonly UserMetricAnswer[] {
  return useQueries({
    queries: metrics.flatMap(({ query }) =>
      runs.map(({ run }) => ({
        queryKey: keys.userMetric(run.runId, query),
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          askSql({ query: queryOfRun(query, run.runId), maxRows: MAX_POINTS }, signal),
        refetchInterval: unlessRefused(hasEnded(run) ? false : REFETCH_MS),
      })),
    ),
    combine: answersOf,
  });
}

function answersOf(results: readonly UseQueryResult<SqlResult>[]): readonly UserMetricAnswer[] {
  return results.map(({ data, error }) => ({ result: data, error }));
}
