import { useMemo, useState } from 'react';
import type { ComparedRun } from '../api/compared-runs';
import { useUserMetricAnswers } from './user-metric-queries';
import { keepAllowedQuery, readAllowedQueries } from './layouts';
import { completedRuns, type MetricProblem, listQuestions } from './user-metric-series';
import { toChartName, type UserMetric } from './user-metric';

/** A metric by SQL, as the page shows it. */
export interface ShownUserMetric {
  readonly metric: UserMetric;
  /** Whether this browser may run the query: a page of somebody else may have the link that brought it. */
  readonly isAllowed: boolean;
  /** Why there are no values of a run, or none since; null without such a reason. */
  readonly problem: MetricProblem | null;
}

/**
 * Adds the series of the metrics by SQL to those of the runs.
 *
 * @param isDrawn whether the chart of that name is drawn now; the others are not asked for
 */
export function useUserMetrics(
  metrics: readonly UserMetric[],
  runs: readonly ComparedRun[],
  isDrawn: (name: string) => boolean,
) {
  const [allowed, setAllowed] = useState(readAllowedQueries);
  const isAsked = (metric: UserMetric) => allowed.includes(metric.query) && isDrawn(toChartName(metric));
  // Metrics of an address are new objects in every rendering.
  const written = JSON.stringify(metrics.filter(isAsked));
  const questions = useMemo(
    () => listQuestions(JSON.parse(written) as readonly UserMetric[], runs),
    [written, runs],
  );
  const answers = useUserMetricAnswers(questions.asked);
  const completed = useMemo(() => completedRuns(runs, questions, answers), [runs, questions, answers]);
  const shown = new Map(
    metrics.map((metric): [string, ShownUserMetric] => [
      toChartName(metric),
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
      setAllowed((before) => [query, ...before]);
    },
  };
}
