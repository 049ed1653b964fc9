import type { MetricSeries } from '../api-types/schema';

/** Amounts that grow with each update: turns, sampled tokens and episodes of the batches that the run was trained on. */
export const TRAINED_AXES = ['steps', 'tokens', 'episodes'] as const;

export type TrainedAxis = (typeof TRAINED_AXES)[number];

/** Unit of the x-axis: updates (rounds, policy versions), seconds since the run started, or what the run had been trained on by then. */
export type ChartAxis = 'update' | 'time' | TrainedAxis;

/** A series whose steps count updates, with the place of each point on an x-axis. */
export interface PlacedSeries extends MetricSeries {
  readonly xs: readonly number[];
}

/** Amount of training of a run after each of these updates, which ascend. */
export interface TrainedAmounts {
  readonly updates: readonly number[];
  readonly amounts: readonly number[];
}

interface AxisOrigin {
  /** Start of the time axis, in ms since the Unix epoch. */
  readonly startMs: number;
  /** Without it, a series has no place on the axis of an amount. */
  readonly trained?: TrainedAmounts;
}

/** Metrics whose product is the amount of one update. */
const FACTORS: Readonly<Record<TrainedAxis, readonly string[]>> = {
  steps: ['train/numEpisodes', 'episode/steps/mean'],
  tokens: ['train/numActionTokens'],
  episodes: ['train/numEpisodes'],
};

export function isTrainedAxis(axis: string): axis is TrainedAxis {
  return (TRAINED_AXES as readonly string[]).includes(axis);
}

/**
 * Gives each point its place on the axis: its update, seconds since the start, or the amount of training by its update; without amounts there are no points.
 * Points without a finite place are left out.
 */
export function placeSeries(
  series: MetricSeries,
  axis: ChartAxis,
  { startMs, trained }: AxisOrigin,
): PlacedSeries {
  if (axis === 'update') return withPlaces(series, series.steps);
  if (axis === 'time')
    return withPlaces(
      series,
      series.times.map((time) => (time - startMs) / 1000),
    );
  if (trained === undefined) return { ...series, xs: [], steps: [], values: [], times: [] };
  return withPlaces(
    series,
    series.steps.map((update) => amountBy(update, trained)),
  );
}

function withPlaces(series: MetricSeries, xs: readonly number[]): PlacedSeries {
  if (xs.every(Number.isFinite)) return { ...series, xs };
  const isPlaced = (_: unknown, i: number) => Number.isFinite(xs[i]);
  return {
    ...series,
    xs: xs.filter(isPlaced),
    steps: series.steps.filter(isPlaced),
    values: series.values.filter(isPlaced),
    times: series.times.filter(isPlaced),
  };
}

/**
 * Sums up what each update of a run was trained on. A series that the API thinned out has means of equal stretches of updates, each of which counts as often
 * as it has updates; the amount of steps is then the product of two means. Undefined where the run does not record the amount.
 *
 * @param maxPoints that were asked for: a series with fewer points has all of its updates
 */
export function trainedAmounts(
  series: readonly MetricSeries[],
  axis: TrainedAxis,
  maxPoints: number,
): TrainedAmounts | undefined {
  const [first, ...others] = FACTORS[axis].map((factor) => series.find(({ name }) => name === factor));
  if (first === undefined || others.includes(undefined)) return undefined;
  const valueOf = others.map((other) => new Map(other?.steps.map((step, i) => [step, other.values[i]])));
  const isThinned = first.steps.length >= maxPoints;
  let sum = 0;
  const amounts = first.steps.map((update, i) => {
    const amount = valueOf.reduce((product, values) => product * (values.get(update) ?? 0), first.values[i]);
    sum += amount * (isThinned ? computeStretch(first.steps, i) : 1);
    return sum;
  });
  return { updates: first.steps, amounts };
}

/** Updates of a mean: since the one before it. Before the first there may be updates that do not record the metric, so it is as long as the second. */
function computeStretch(steps: readonly number[], i: number): number {
  const end = Math.max(i, 1);
  return steps.length === 1 ? 1 : steps[end] - steps[end - 1];
}

/** The amount after an update, linear between two that are known, and 0 before all training. */
function amountBy(update: number, { updates, amounts }: TrainedAmounts): number {
  const next = firstNotBelow(update, updates);
  if (next === updates.length) return amounts.at(-1) ?? 0;
  const [left, below] = next === 0 ? [Math.min(0, update), 0] : [updates[next - 1], amounts[next - 1]];
  const width = updates[next] - left;
  return width === 0 ? amounts[next] : below + ((amounts[next] - below) * (update - left)) / width;
}

/** Place of the first of ascending numbers that is not below a limit; their number where all are. */
export function firstNotBelow(limit: number, ascending: readonly number[]): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
