import { useState } from 'react';
import { useSearch } from '../as-of/shown-moment';
import { withNamed } from '../components/kept-list';
import { readView, writeView, type ExplorerView } from './explorer-view';
import {
  keepLayouts,
  keepPins,
  keepUserMetrics,
  readLayouts,
  readPins,
  readUserMetrics,
  renamed,
  searchOf,
  toggled,
  viewOf,
  type Layout,
} from './layouts';
import type { UserMetric } from './user-metric';

/** Pins that this browser keeps. Other tabs keep theirs in the same place. */
export function usePins() {
  const [pins, setPins] = useState(readPins);
  const keep = (names: readonly string[]): void => {
    keepPins(names);
    setPins(names);
  };
  return [pins, keep] as const;
}

/**
 * The view in the address of the page, completed by what this browser keeps. Where the address names pins or metrics by SQL, as that of a layout does,
 * changes of them stay in the address, so that somebody else's link changes nothing here.
 */
export function useExplorer() {
  const [parameters, setParameters] = useSearch();
  const [keptPins, setKeptPins] = usePins();
  const named = readView(parameters);
  const change = (changed: Partial<ExplorerView>): void => {
    setParameters((current) => writeView({ ...readView(current), ...changed }), { replace: true });
  };
  const [keptMetrics, setKeptMetrics] = useState(readUserMetrics);
  const view = { ...named, pins: named.pins ?? keptPins, metrics: named.metrics ?? keptMetrics };
  const togglePin = (name: string): void => {
    const pins = toggled(view.pins, name);
    if (named.pins === null) setKeptPins(pins);
    else change({ pins });
  };
  const changeMetrics = (metrics: readonly UserMetric[]): void => {
    if (named.metrics !== null) {
      change({ metrics });
      return;
    }
    keepUserMetrics(metrics);
    setKeptMetrics(metrics);
  };
  return {
    ...{ view, change, togglePin },
    /** Puts a metric in place of the one that is edited, or adds it. */
    saveMetric: (metric: UserMetric, edited: UserMetric | null) => {
      changeMetrics(withNamed(without(view.metrics, edited), metric));
    },
    removeMetric: (metric: UserMetric) => {
      changeMetrics(without(view.metrics, metric));
    },
  };
}

function without(metrics: readonly UserMetric[], one: UserMetric | null): readonly UserMetric[] {
  return metrics.filter(({ name }) => name !== one?.name);
}

/** The layouts that this browser keeps, and which of them the view is. */
export function useLayouts(view: ExplorerView, change: (view: ExplorerView) => void) {
  const [layouts, setLayouts] = useState(readLayouts);
  const keep = (changed: readonly Layout[]): void => {
    keepLayouts(changed);
    setLayouts(changed);
  };
  const search = searchOf(view);
  return {
    layouts,
    /** The name of the layout that is shown; null for a view that is none. */
    shown: layouts.find((layout) => layout.search === search)?.name ?? null,
    choose: (name: string) => {
      const chosen = layouts.find((layout) => layout.name === name);
      const ofBrowser = { ...readView(new URLSearchParams()), others: view.others, isMean: view.isMean };
      change(chosen === undefined ? ofBrowser : viewOf(chosen, view));
    },
    save: (name: string) => {
      keep(withNamed(readLayouts(), { name, search }));
      change(viewOf({ search }, view));
    },
    rename: (from: string, to: string) => {
      keep(renamed(readLayouts(), from, to));
    },
    remove: (name: string) => {
      keep(readLayouts().filter((layout) => layout.name !== name));
    },
  };
}
