import { useState } from 'react';
import { useSearch } from '../as-of/shown-moment';
import { withNamed } from '../components/kept-list';
import { lengthFault, readView, writeView, type ExplorerView } from './explorer-view';
import {
  keepLayouts,
  keepPins,
  keepUserMetrics,
  type Layout,
  movedPin,
  readLayouts,
  readPins,
  readUserMetrics,
  renamed,
  formatSearch,
  toggled,
  toExplorerView,
  withMetric,
  withoutMetric,
} from './layouts';
import type { UserMetric } from './user-metric';

type Change<List> = (list: List) => List;
type Pins = readonly string[];
type Metrics = readonly UserMetric[];

/** Pins that this browser keeps. Other tabs keep theirs in the same place, so that a change is one of what is there now. */
export function usePins() {
  const [pins, setPins] = useState(readPins);
  const change = (changed: Change<Pins>): void => {
    keepPins(changed(readPins()));
    setPins(readPins());
  };
  return [pins, change] as const;
}

/** Metrics by SQL that this browser keeps, as `usePins`. */
function useKeptMetrics() {
  const [metrics, setMetrics] = useState(readUserMetrics);
  const change = (changed: Change<Metrics>): void => {
    keepUserMetrics(changed(readUserMetrics()));
    setMetrics(readUserMetrics());
  };
  return [metrics, change] as const;
}

/**
 * The view in the address of the page, completed by what this browser keeps. Where the address names pins or metrics by SQL, as that of a layout does,
 * changes of them stay in the address, so that somebody else's link changes nothing here.
 */
export function useExplorer() {
  const [parameters, setParameters] = useSearch();
  const [keptPins, changeKeptPins] = usePins();
  const [keptMetrics, changeKeptMetrics] = useKeptMetrics();
  const [problem, setProblem] = useState<string | null>(null);
  const named = readView(parameters);
  const change = (changed: Partial<ExplorerView>): void => {
    const fault = lengthFault({ ...named, ...changed });
    setProblem(fault);
    if (fault !== null) return;
    setParameters((current) => writeView({ ...readView(current), ...changed }), { replace: true });
  };
  /** Changes each where it is: in the address, by one change of it, or in this browser. */
  const changeOwn = (pinsOf: Change<Pins>, metricsOf: Change<Metrics>): void => {
    const { pins, metrics } = named;
    if (pins === null) changeKeptPins(pinsOf);
    if (metrics === null) changeKeptMetrics(metricsOf);
    if (pins === null && metrics === null) return;
    change({
      pins: pins === null ? null : pinsOf(pins),
      metrics: metrics === null ? null : metricsOf(metrics),
    });
  };
  return {
    view: { ...named, pins: named.pins ?? keptPins, metrics: named.metrics ?? keptMetrics },
    change,
    /** Whether the address names pins or metrics, in place of those of this browser. */
    isNamed: named.pins !== null || named.metrics !== null,
    /** Why the last change was not made; null for one that was. */
    problem,
    togglePin: (name: string) => {
      changeOwn(
        (pins) => toggled(pins, name),
        (metrics) => metrics,
      );
    },
    /** Puts a metric in place of the one that is edited, with its pin, or adds it. */
    saveMetric: (metric: UserMetric, edited: UserMetric | null) => {
      changeOwn(
        (pins) => (edited === null ? pins : movedPin(pins, edited, metric)),
        (metrics) => withMetric(metrics, metric, edited),
      );
    },
    removeMetric: (metric: UserMetric) => {
      changeOwn(
        (pins) => movedPin(pins, metric, null),
        (metrics) => withoutMetric(metrics, metric),
      );
    },
  };
}

/** The layouts that this browser keeps, and which of them the view is. */
export function useLayouts(view: ExplorerView, change: (view: ExplorerView) => void) {
  const [layouts, setLayouts] = useState(readLayouts);
  const [chosen, setChosen] = useState<string | null>(null);
  const keep = (changed: readonly Layout[]): void => {
    keepLayouts(changed);
    setLayouts(changed);
  };
  const search = formatSearch(view);
  const shown = layouts.find((layout) => layout.search === search)?.name ?? null;
  return {
    layouts,
    /** The name of the layout that is shown; null for a view that is none. */
    shown,
    /** The layout that was chosen or saved last, where the view is another one by now; null without such a one. */
    changed: shown === null && layouts.some(({ name }) => name === chosen) ? chosen : null,
    choose: (name: string) => {
      const layout = layouts.find((one) => one.name === name);
      const ofBrowser = { ...readView(new URLSearchParams()), others: view.others, isMean: view.isMean };
      setChosen(layout?.name ?? null);
      change(layout === undefined ? ofBrowser : toExplorerView(layout, view));
    },
    /** Keeps the view under a name. The address stays, so that pins and metrics of this browser are changed in this browser. */
    save: (name: string) => {
      keep(withNamed(readLayouts(), { name, search }));
      setChosen(name);
    },
    rename: (from: string, to: string) => {
      keep(renamed(readLayouts(), from, to));
      setChosen(to);
    },
    remove: (name: string) => {
      keep(readLayouts().filter((layout) => layout.name !== name));
    },
  };
}
