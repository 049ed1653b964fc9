import { useMemo, useState } from 'react';
import { useMetrics } from '../api/queries';
import type { RunDetail } from '../api-types/schema';
import { countedInUpdates } from '../charts/chart-data';
import { CHARTED_METRICS } from '../charts/run-charts';
import { useRefetchMs } from '../live/use-live-run';
import { openedRun } from '../as-of/saved-run';
import { readUserMetrics, shownPins } from './layouts';
import { usePins } from './use-explorer';
import { useUserMetrics } from './use-user-metrics';
import { toChartName } from './user-metric';

/** The series of the charts on a run's overview, and of those that are pinned in this browser, counted in updates. */
export function useRunSeries(run: RunDetail) {
  const [pins, changePins] = usePins();
  const [userMetrics] = useState(() => (openedRun() === null ? readUserMetrics() : []));
  const ofUser = userMetrics.map(toChartName);
  const recorded = pins.filter((name) => !name.includes(',') && !ofUser.includes(name));
  const names = [...new Set([...CHARTED_METRICS, ...recorded])];
  const metrics = useMetrics(run.runId, names, { refetchMs: useRefetchMs() });
  const read = useMemo(() => [{ run, series: metrics.data ?? [] }], [run, metrics.data]);
  const has = metrics.data && [...metrics.data.map(({ name }) => name), ...ofUser];
  const shown = shownPins(pins, has ?? []);
  const { runs } = useUserMetrics(userMetrics, read, (name) => shown.includes(name));
  const seriesByName = useMemo(() => {
    const [{ series }] = runs;
    const updates = series.find(({ name }) => name === 'train/loss');
    return new Map(series.map((one) => [one.name, countedInUpdates(one, updates)]));
  }, [runs]);
  return {
    ...{ metrics, seriesByName, pins: shown },
    unpin: (name: string) => {
      changePins((kept) => kept.filter((one) => one !== name));
    },
  };
}
