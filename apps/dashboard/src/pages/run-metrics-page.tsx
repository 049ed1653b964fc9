import { MetricExplorer } from '../metrics/metric-explorer';
import { useRunOfPage } from '../runs/run-of-page';

/** All metrics of a run, beside those of other runs. */
export function RunMetricsPage() {
  return <MetricExplorer run={useRunOfPage()} />;
}
