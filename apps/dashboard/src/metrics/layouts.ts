import { keepItems, keptItems, withNamed } from '../components/kept-list';
import { toChartName, type UserMetric } from './user-metric';
import { readView, writeView, type ExplorerView } from './explorer-view';

/** A named view of the explorer, without the runs that it showed. */
export interface Layout {
  readonly name: string;
  /** Query of an address, as `writeView` writes it. */
  readonly search: string;
}

const PINS_KEY = 'retrace.metrics.pins';
const LAYOUTS_KEY = 'retrace.metrics.layouts';
const METRICS_KEY = 'retrace.metrics.sql';
const ALLOWED_KEY = 'retrace.metrics.allowed';
const MAX_ALLOWED = 200;
const MAX_PINNED = 4;

/** Names of the charts that this browser keeps first, in their order. */
export function readPins(): readonly string[] {
  return keptItems<{ name: string }>(PINS_KEY, { name: 'string' }).map(({ name }) => name);
}

export function keepPins(pins: readonly string[]): void {
  keepItems(
    PINS_KEY,
    pins.map((name) => ({ name })),
  );
}

/** Metrics by SQL that this browser shows for each run. */
export function readUserMetrics(): readonly UserMetric[] {
  return keptItems<UserMetric>(METRICS_KEY, { name: 'string', query: 'string' });
}

export function keepUserMetrics(metrics: readonly UserMetric[]): void {
  keepItems(METRICS_KEY, metrics);
}

/** Queries that a person wrote or ran in this browser; any other one came with a link. */
export function readAllowedQueries(): readonly string[] {
  return keptItems<{ query: string }>(ALLOWED_KEY, { query: 'string' }).map(({ query }) => query);
}

export function keepAllowedQuery(query: string): void {
  const queries = [query, ...readAllowedQueries().filter((one) => one !== query)].slice(0, MAX_ALLOWED);
  keepItems(
    ALLOWED_KEY,
    queries.map((one) => ({ query: one })),
  );
}

export function readLayouts(): readonly Layout[] {
  return keptItems<Layout>(LAYOUTS_KEY, { name: 'string', search: 'string' });
}

export function keepLayouts(layouts: readonly Layout[]): void {
  keepItems(LAYOUTS_KEY, layouts);
}

/** Adds a name to the end, or takes it away. */
export function toggled(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
}

/** The query of the layout that a view with all of its pins and metrics is: the runs are left out, and in which group they are drawn. */
export function formatSearch(view: ExplorerView): string {
  return writeView({ ...view, others: [], isMean: false }).toString();
}

/** A layout as a view, with the runs of the view that is shown. */
export function toExplorerView(
  { search }: Pick<Layout, 'search'>,
  { others, isMean }: ExplorerView,
): ExplorerView {
  return { ...readView(new URLSearchParams(search)), others, isMean };
}

/** Pins of the charts that stand before those of a run's overview: the first few of those that the run has. */
export function shownPins(pins: readonly string[], names: readonly string[]): readonly string[] {
  return pins.filter((name) => names.includes(name)).slice(0, MAX_PINNED);
}

/** Puts a metric in place of the one that is edited, or adds it. */
export function withMetric(
  metrics: readonly UserMetric[],
  metric: UserMetric,
  edited: UserMetric | null,
): readonly UserMetric[] {
  return withNamed(withoutMetric(metrics, edited), metric);
}

export function withoutMetric(metrics: readonly UserMetric[], one: UserMetric | null): readonly UserMetric[] {
  return metrics.filter(({ name }) => name !== one?.name);
}

/** Gives the pin of a metric that is edited its new name, or takes it away with the metric. */
export function movedPin(
  pins: readonly string[],
  from: UserMetric,
  to: UserMetric | null,
): readonly string[] {
  return pins.flatMap((name) => {
    if (name !== toChartName(from)) return name;
    return to === null ? [] : toChartName(to);
  });
}

/** Gives a layout another name, in place of one that has it. */
export function renamed(layouts: readonly Layout[], from: string, to: string): readonly Layout[] {
  return layouts
    .filter(({ name }) => name === from || name !== to)
    .map((layout) => (layout.name === from ? { ...layout, name: to } : layout))
    .sort((a, b) => a.name.localeCompare(b.name));
}
