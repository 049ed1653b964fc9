import type { ComparedRun } from '../api/compared-runs';
import type { MetricSeries } from '../api-types/schema';
import type { UserMetricAnswer, UserMetricQuestion } from './user-metric-queries';
import { labelSeeds } from './seed-groups';
import { seriesOfResult, type UserMetric } from './user-metric';

/** Queries that a page asks at most, each again and again while its run goes on. */
export const MAX_QUESTIONS = 36;

/** Problem with the values of a metric, for the reader of the page. */
export interface MetricProblem {
  readonly message: string;
  /** Asks again; null where that gives the same. */
  readonly retry: (() => unknown) | null;
}

export interface UserMetricQuestions {
  readonly asked: readonly UserMetricQuestion[];
  /** Beyond what a page asks. */
  readonly leftOut: readonly UserMetricQuestion[];
}

/** Asks for each metric of all runs, then for the next metric, as far as a page may. */
export function listQuestions(
  metrics: readonly UserMetric[],
  runs: readonly Pick<ComparedRun, 'run'>[],
): UserMetricQuestions {
  const all = metrics.flatMap((metric) => runs.map(({ run }) => ({ metric, run })));
  return { asked: all.slice(0, MAX_QUESTIONS), leftOut: all.slice(MAX_QUESTIONS) };
}

/**
 * Adds the series of the answers to those of the runs. An answer stays where a later one failed, with the problem beside it.
 *
 * @param answers in the order of the questions asked
 * @returns problems by the name of the metric
 */
export function completedRuns(
  runs: readonly ComparedRun[],
  { asked, leftOut }: UserMetricQuestions,
  answers: readonly UserMetricAnswer[],
) {
  const problems = new Map<string, MetricProblem>();
  const added = new Map(runs.map(({ run }) => [run.runId, [] as MetricSeries[]]));
  for (const { metric } of leftOut) problems.set(metric.name, { message: leftOutMessage(), retry: null });
  asked.forEach(({ metric, run }, i) => {
    const { result, error, retry } = answers[i] ?? { result: undefined, error: null, retry: null };
    const tell = (message: string, again: (() => unknown) | null) =>
      problems.set(metric.name, { message: `${labelSeeds([run])}: ${message}`, retry: again });
    if (error !== null) tell(error.message, retry);
    if (result === undefined) return;
    const series = runs.find((one) => one.run.runId === run.runId)?.series;
    const updates = series?.find(({ name }) => name === 'train/loss');
    try {
      added.get(run.runId)?.push(seriesOfResult(metric, result, updates));
    } catch (fault) {
      tell((fault as Error).message, null);
    }
  });
  return {
    problems,
    runs: runs.map(({ run, series }) => ({ run, series: [...series, ...(added.get(run.runId) ?? [])] })),
  };
}

function leftOutMessage(): string {
  return `Not drawn for every run: a page asks ${MAX_QUESTIONS} queries at most, one for each metric by SQL and run. Fold other charts, or take runs away.`;
}
