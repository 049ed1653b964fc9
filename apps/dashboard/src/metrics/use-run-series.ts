import { useMemo, useState } from 'react';
import { useMetrics } from '../api/queries';
import type { RunDetail } from '../api/schema';
import { countedInUpdates } from '../charts/chart-data';
import { CHARTED_METRICS } from '../charts/run-charts';
import { useRefetchMs } from '../live/use-live-run';
import { openedRun } from '../saved-page/saved-run';
import { readUserMetrics, toggled } from './layouts';
import { usePins } from './use-explorer';
import { useUserMetrics } from './use-user-metrics';
import { chartNameOf } from './user-metric';

/** Pinned charts that stand before those of all runs. */
const MAX_PINNED = 4;

/** The series of the charts on a run's overview, and of those that are pinned in this browser, counted in updates. */
export function useRunSeries(run: RunDetail) {
  const [pins, keepPins] = usePins();
  const shownPins = pins.slice(0, MAX_PINNED);
  const names = [...new Set([...CHARTED_METRICS, ...shownPins])];
  const metrics = useMetrics(run.runId, names, { refetchMs: useRefetchMs() });
  const [userMetrics] = useState(readUserMetrics);
  const isShown = openedRun() === null;
  const pinned = userMetrics.filter((metric) => isShown && shownPins.includes(chartNameOf(metric)));
  const read = useMemo(() => [{ run, series: metrics.data ?? [] }], [run, metrics.data]);
  const { runs } = useUserMetrics(pinned, read);
  const seriesByName = useMemo(() => {
    const [{ series }] = runs;
    const updates = series.find(({ name }) => name === 'train/loss');
    return new Map(series.map((one) => [one.name, countedInUpdates(one, updates)]));
  }, [runs]);
  return {
    ...{ metrics, seriesByName, pins: shownPins },
    unpin: (name: string) => {
      keepPins(toggled(pins, name));
    },
  };
}
