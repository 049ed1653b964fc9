import { useMemo, useState } from 'react';
import type { ComparedRun } from '../api/compared-runs';
import type { MetricSeries } from '../api/schema';
import { useUserMetricAnswers } from '../api/user-metric-queries';
import { keepAllowedQuery, readAllowedQueries } from './layouts';
import { chartNameOf, seriesOfResult, type UserMetric } from './user-metric';

/** A metric by SQL, as the page shows it. */
export interface ShownUserMetric {
  readonly metric: UserMetric;
  /** Whether this browser may run the query: a page of somebody else may have the link that brought it. */
  readonly isAllowed: boolean;
  /** Why there are no values of a run; null without such a reason. */
  readonly problem: string | null;
}

/** Adds the series of the metrics by SQL to those of the runs. */
export function useUserMetrics(metrics: readonly UserMetric[], runs: readonly ComparedRun[]) {
  const [allowed, setAllowed] = useState(readAllowedQueries);
  // Metrics of an address are new objects in every rendering.
  const written = JSON.stringify(metrics.filter(({ query }) => allowed.includes(query)));
  const asked = useMemo(() => JSON.parse(written) as readonly UserMetric[], [written]);
  const answers = useUserMetricAnswers(asked, runs);
  const completed = useMemo(() => {
    const problems = new Map<string, string>();
    const added = runs.map((): MetricSeries[] => []);
    asked.forEach((metric, m) => {
      runs.forEach(({ series }, r) => {
        const { result, error } = answers[m * runs.length + r] ?? { result: undefined, error: null };
        const updates = series.find(({ name }) => name === 'train/loss');
        try {
          if (error !== null) throw error;
          if (result !== undefined) added[r].push(seriesOfResult(metric, result, updates));
        } catch (problem) {
          problems.set(metric.name, (problem as Error).message);
        }
      });
    });
    return { problems, runs: runs.map(({ run, series }, r) => ({ run, series: [...series, ...added[r]] })) };
  }, [asked, runs, answers]);
  const shown = new Map(
    metrics.map((metric): [string, ShownUserMetric] => [
      chartNameOf(metric),
      {
        metric,
        isAllowed: allowed.includes(metric.query),
        problem: completed.problems.get(metric.name) ?? null,
      },
    ]),
  );
  return {
    runs: completed.runs,
    /** By the name of the chart. */
    shown,
    allow: (query: string) => {
      keepAllowedQuery(query);
      setAllowed(readAllowedQueries());
    },
  };
}
