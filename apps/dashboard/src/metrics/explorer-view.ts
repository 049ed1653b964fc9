import { useSearch } from '../as-of/shown-moment';
import { isTrainedAxis, type ChartAxis } from '../charts/chart-axis';

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
}

const MOST_SMOOTHING = 0.99;

/** Reads the view of an address; a value that it can't have counts as absent. */
export function readView(parameters: URLSearchParams): ExplorerView {
  const smoothing = Number(parameters.get('smooth') ?? 0);
  return {
    search: parameters.get('q') ?? '',
    others: [...new Set(parameters.getAll('with').filter((runId) => runId !== ''))],
    axis: readAxis(parameters.get('x') ?? ''),
    smoothing: smoothing >= 0 && smoothing <= MOST_SMOOTHING ? smoothing : 0,
    isLog: parameters.get('log') === '1',
    isMean: parameters.get('seeds') === 'mean',
  };
}

function readAxis(text: string): ChartAxis {
  return text === 'time' || isTrainedAxis(text) ? text : 'update';
}

/** Writes a view into an address; what is as it is without a choice is left out. */
export function writeView({ search, others, axis, smoothing, isLog, isMean }: ExplorerView): URLSearchParams {
  return new URLSearchParams([
    ...(search === '' ? [] : [['q', search]]),
    ...others.map((runId) => ['with', runId]),
    ...(axis === 'update' ? [] : [['x', axis]]),
    ...(smoothing === 0 ? [] : [['smooth', String(smoothing)]]),
    ...(isLog ? [['log', '1']] : []),
    ...(isMean ? [['seeds', 'mean']] : []),
  ]);
}

/** The view in the address of the page. */
export function useExplorerView() {
  const [parameters, setParameters] = useSearch();
  const view = readView(parameters);
  const change = (changed: Partial<ExplorerView>): void => {
    setParameters((current) => writeView({ ...readView(current), ...changed }), { replace: true });
  };
  return { view, change };
}
