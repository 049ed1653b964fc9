import { isTrainedAxis, type ChartAxis } from '../charts/chart-axis';
import { MAX_USER_METRICS, type UserMetric } from './user-metric';

/** The part of the explorer that its address keeps, so that a view can be shared. */
export interface ExplorerView {
  readonly search: string;
  /** Ids of the runs beside the one of the page. */
  readonly others: readonly string[];
  readonly axis: ChartAxis;
  /** Weight of what came before, from 0 (none) to 0.99. */
  readonly smoothing: number;
  readonly isLog: boolean;
  /** Whether runs that differ only by their seed are drawn as their mean. */
  readonly isMean: boolean;
  /** Charts beside each other, 1 to 4; 0: as many as the window has place for. */
  readonly columns: number;
  /** Names of the charts that stand first; null: those that this browser keeps. */
  readonly pins: readonly string[] | null;
  /** Metrics by SQL; null: those that this browser keeps. */
  readonly metrics: readonly UserMetric[] | null;
}

export const MAX_COLUMNS = 4;
/** Servers refuse requests whose head is longer than 16 KB, cookies and all. */
const MAX_WRITTEN_LENGTH = 8_000;
const MOST_SMOOTHING = 0.99;

/** Reads the view of an address; a value that it can't have counts as absent. */
export function readView(parameters: URLSearchParams): ExplorerView {
  const smoothing = Number(parameters.get('smooth') ?? 0);
  const columns = Number(parameters.get('columns') ?? 0);
  return {
    search: parameters.get('q') ?? '',
    others: readTexts(parameters, 'with'),
    axis: readAxis(parameters.get('x') ?? ''),
    smoothing: smoothing >= 0 && smoothing <= MOST_SMOOTHING ? smoothing : 0,
    isLog: parameters.get('log') === '1',
    isMean: parameters.get('seeds') === 'mean',
    columns: Number.isInteger(columns) && columns > 0 && columns <= MAX_COLUMNS ? columns : 0,
    pins: parameters.has('pin') ? readTexts(parameters, 'pin') : null,
    metrics: parameters.has('metric') ? readMetrics(parameters) : null,
  };
}

/** Each name has its query at the same place among the fields `sql`. */
function readMetrics(parameters: URLSearchParams): readonly UserMetric[] {
  const queries = parameters.getAll('sql');
  const named = new Map(parameters.getAll('metric').map((name, i) => [name, queries[i] ?? '']));
  return [...named]
    .filter(([name, query]) => name !== '' && query !== '')
    .slice(0, MAX_USER_METRICS)
    .map(([name, query]) => ({ name, query }));
}

function readTexts(parameters: URLSearchParams, name: string): readonly string[] {
  return [...new Set(parameters.getAll(name).filter((text) => text !== ''))];
}

function readAxis(text: string): ChartAxis {
  return text === 'time' || isTrainedAxis(text) ? text : 'update';
}

/** Writes a view into an address; what is as it is without a choice is left out. */
export function writeView(view: ExplorerView): URLSearchParams {
  const { search, others, axis, smoothing, isLog, isMean, columns, pins, metrics } = view;
  return new URLSearchParams([
    ...(search === '' ? [] : [['q', search]]),
    ...others.map((runId) => ['with', runId]),
    ...(axis === 'update' ? [] : [['x', axis]]),
    ...(smoothing === 0 ? [] : [['smooth', String(smoothing)]]),
    ...(isLog ? [['log', '1']] : []),
    ...(isMean ? [['seeds', 'mean']] : []),
    ...(columns === 0 ? [] : [['columns', String(columns)]]),
    ...(pins === null ? [] : namedTexts('pin', pins)),
    ...(metrics === null
      ? []
      : [
          ...namedTexts(
            'metric',
            metrics.map(({ name }) => name),
          ),
          ...metrics.map(({ query }) => ['sql', query]),
        ]),
  ]);
}

/** Says why a view fits in no address, and so in no link or layout; null for one that does. */
export function lengthFault(view: ExplorerView): string | null {
  const { length } = writeView(view).toString();
  return length <= MAX_WRITTEN_LENGTH
    ? null
    : `The pins and queries of this view take ${length.toLocaleString('en')} characters, and a link or layout holds ${MAX_WRITTEN_LENGTH.toLocaleString('en')}: shorten or remove some.`;
}

/** An empty text stands for an empty list, which is not the same as no choice. */
function namedTexts(name: string, texts: readonly string[]): string[][] {
  return texts.length === 0 ? [[name, '']] : texts.map((text) => [name, text]);
}
