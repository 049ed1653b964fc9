import type { ComparedRun } from '../api/compared-runs';
import { MAX_CHART_POINTS } from '../api/queries';
import type { MetricSeries } from '../api-types/schema';
import {
  isTrainedAxis,
  placeSeries,
  trainedAmounts,
  type ChartAxis,
  type PlacedSeries,
} from '../charts/chart-axis';
import { countedInUpdates } from '../charts/chart-data';
import type { ExplorerView } from './explorer-view';
import { groupSeeds, labelSeeds } from './seed-groups';

export interface ExploredRun {
  readonly label: string;
  /** Whether the run records what the x-axis counts. */
  readonly hasAxis: boolean;
  /** By name. */
  readonly series: ReadonlyMap<string, PlacedSeries>;
}

/** A line of each chart: a run, or the mean of several. */
export interface ExploredLine {
  readonly label: string;
  readonly runs: readonly ExploredRun[];
}

export function exploredLines(
  runs: readonly ComparedRun[],
  { isMean, axis }: Pick<ExplorerView, 'isMean' | 'axis'>,
): ExploredLine[] {
  const groups = isMean ? groupSeeds(runs, ({ run }) => run) : runs.map((one) => [one]);
  return groups.map((group) => ({
    label: labelSeeds(group.map(({ run }) => run)),
    runs: group.map((one) => exploredRun(one, axis)),
  }));
}

/** Counts steps in updates, and places points from the run's start, so that runs can be laid over each other. */
function exploredRun({ run, series }: ComparedRun, axis: ChartAxis): ExploredRun {
  const updates = series.find(({ name }) => name === 'train/loss');
  const startMs = Date.parse(run.startedAt);
  const trained = isTrainedAxis(axis) ? trainedAmounts(series, axis, MAX_CHART_POINTS) : undefined;
  const placed = (one: MetricSeries) =>
    placeSeries(countedInUpdates(one, updates), axis, { startMs, trained });
  const hasAxis = !isTrainedAxis(axis) || trained !== undefined;
  return { label: labelSeeds([run]), hasAxis, series: new Map(series.map((one) => [one.name, placed(one)])) };
}
