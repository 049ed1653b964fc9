import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { hasEnded } from '../format/run-state';
import { MAX_POINTS, queryOfRun, type UserMetric } from './user-metric';
import { keys, unlessRefused } from '../api/queries';
import type { RunDetail, SqlResult } from '../api-types/schema';
import { askSql } from '../api/sql-queries';

const REFETCH_MS = 15_000;
/** Of the time of one database connection, for all queries of a page together. */
const MOST_SHARE = 0.1;

/** A query of a metric for a run. */
export interface UserMetricQuestion {
  readonly metric: UserMetric;
  readonly run: RunDetail;
}

/** An answer, and why the newest one failed; neither while it is waited for. */
export interface UserMetricAnswer {
  readonly result: SqlResult | undefined;
  readonly error: Error | null;
  readonly retry: () => unknown;
}

interface AskedQuery {
  readonly queryKey: readonly unknown[];
  readonly state: { readonly data?: SqlResult; readonly dataUpdatedAt: number; readonly error: Error | null };
}

/** Asks each question, as of the moment that the page shows, and again while its run goes on; once more after it has ended. Answers are in the order of the questions. */
export function useUserMetricAnswers(questions: readonly UserMetricQuestion[]): readonly UserMetricAnswer[] {
  return useQueries({
    queries: questions.map(({ metric, run }) => ({
      queryKey: keys.userMetric(run.runId, metric.query),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        askSql({ query: queryOfRun(metric.query, run.runId), maxRows: MAX_POINTS }, signal),
      refetchInterval: (query: AskedQuery) =>
        unlessRefused(refetchMs(run, { ...query.state, numQueries: questions.length }))(query),
    })),
    combine: listAnswers,
  });
}

interface AnswerState {
  readonly data?: Pick<SqlResult, 'elapsedMs'>;
  /** In ms since the Unix epoch; 0 before the first answer. */
  readonly dataUpdatedAt: number;
  /** Of the page. */
  readonly numQueries: number;
}

/** Time until a query is asked again: longer where it takes long, and with more of them. False once it was answered after the run had ended and the store had time to follow. */
export function refetchMs(
  run: Pick<RunDetail, 'status' | 'startedAt' | 'endedAt' | 'lastActivityAt'>,
  { data, dataUpdatedAt, numQueries }: AnswerState,
): number | false {
  const endedMs = Date.parse(run.endedAt ?? run.lastActivityAt ?? run.startedAt);
  if (hasEnded(run) && dataUpdatedAt > endedMs + REFETCH_MS) return false;
  return Math.max(REFETCH_MS, (numQueries * (data?.elapsedMs ?? 0)) / MOST_SHARE);
}

function listAnswers(results: readonly UseQueryResult<SqlResult>[]): readonly UserMetricAnswer[] {
  return results.map(({ data, error, refetch }) => ({ result: data, error, retry: refetch }));
}
