import { rankCorrelation } from '@retrace/algorithms';
import type { MonitorsRecipe } from '@retrace/config';

/** Figures of one update of the policy, as monitors read them. */
export interface UpdateFigures {
  readonly updateNumber: number;
  /** By name; a metric that was not measured is absent. */
  readonly metrics: ReadonlyMap<string, number>;
}

/** An earlier update, with what later ones are compared with of its episodes. */
export interface PastUpdate extends UpdateFigures {
  readonly uniformEntropy: number;
}

/** The episodes of one update, all arrays [E]. */
export interface EpisodeFigures {
  readonly episodeIds: readonly string[];
  /** NaN = missing. */
  readonly totals: Float64Array;
  /** 1 success, 0 failure, −1 unknown. */
  readonly successes: Int8Array;
  readonly numActionTokens: Int32Array;
  /**
   * Entropy of a token, in nats, if the policy took each legal action of these episodes equally often: the logarithm of the number of different
   * actions that were taken and understood, divided by the mean number of tokens of an action. NaN without an action.
   */
  readonly uniformEntropy: number;
  /** Share of the steps that repeat the step before: the same tokens observed, the same tokens done. */
  readonly repeatedFractions: Float32Array;
}

/** A rule that an update broke. */
export interface Finding {
  readonly severity: 'warning' | 'alarm';
  /** The rule broken, with the value and the bound. */
  readonly message: string;
  /** A step to take next. */
  readonly advice: string;
  /** Episodes to look at first; empty where no single episode is concerned. */
  readonly episodeIds: readonly string[];
}

export interface MonitorInput {
  readonly update: UpdateFigures;
  readonly episodes: EpisodeFigures;
  /** Earlier updates of the policy, the oldest first, at most `WINDOW`: the first `FIRST_UPDATES` and the newest. */
  readonly before: readonly PastUpdate[];
  readonly rules: MonitorsRecipe;
}

/** Returns what is wrong with an update, null where nothing is, or where it can't be told yet. Keeps nothing between calls. */
export type Monitor = (input: MonitorInput) => Finding | null;

/** A policy that succeeds as often as this may be sure of itself, and its rewards equal. */
const SOLVED = 0.9;
/** Updates over which a trend is judged. */
export const TREND = 10;
/** Spearman's ρ with the order of the updates from which a series rises. */
export const RISING = 0.6;

/** Updates whose mean is what later ones are compared with. */
export const FIRST_UPDATES = 5;
/** Updates that monitors look back over. */
export const WINDOW = 64;
/** Episodes that a finding names at most. */
const MOST_NAMED = 8;

/** The episodes that `isConcerned` marks, those with the largest `weight` first. */
export function concerned(
  { episodeIds }: Pick<EpisodeFigures, 'episodeIds'>,
  isConcerned: (episode: number) => boolean,
  weight: (episode: number) => number = () => 0,
): readonly string[] {
  const found = [...episodeIds.keys()].filter(isConcerned).sort((a, b) => weight(b) - weight(a) || a - b);
  return found.slice(0, MOST_NAMED).map((episode) => episodeIds[episode]);
}

/** The metric in each update that measured it, the oldest first. */
export function selectSeries(updates: readonly UpdateFigures[], name: string): number[] {
  return updates.flatMap(({ metrics }) => metrics.get(name) ?? []);
}

/** Whether the episodes of an update show the task as solved; false where their success is unknown. */
export function isSolved({ metrics }: UpdateFigures): boolean {
  return (metrics.get('success/mean') ?? 0) >= SOLVED;
}

/** Spearman's ρ of the last ten values with their order; 0 for a constant series, and for fewer. */
export function computeTrend(series: readonly number[]): number {
  const values = series.slice(-TREND);
  if (values.length < TREND) return 0;
  const { spearman } = rankCorrelation(Float64Array.from(values.keys()), Float64Array.from(values));
  return Number.isNaN(spearman) ? 0 : spearman;
}

export function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A figure in a message. */
export function shown(value: number): string {
  return Number.isInteger(value) ? `${value}` : value.toPrecision(3);
}

export const percent = (fraction: number) => `${Math.round(100 * fraction)} %`;
