import type { CommonOptions } from '../../options.js';
import { chooseRunOn } from '../../run/begin-or-choose-run.js';
import type { BackendChoice } from '@retrace/process';
import { requireServices, runRoleInProcess } from '../../run/run-role-in-process.js';

interface CollectForRunOptions extends CommonOptions {
  readonly run: string;
  /** Such as `1/3`; '' for a collector that works by itself. */
  readonly share: string;
  /** Port of the collector's Prometheus endpoint. */
  readonly metricsPort?: number;
  readonly backend?: BackendChoice;
}

/** Runs a collector in this process for a run in the log that the environment names, until the run ends. */
export async function collectForRun({
  run,
  dataDir,
  share,
  metricsPort,
  backend,
  json,
}: CollectForRunOptions): Promise<void> {
  const services = requireServices('collect --run', dataDir);
  const runId = await chooseRunOn(services, run);
  if (runId === null) return;
  await runRoleInProcess('collector', services, {
    variables: {
      RETRACE_RUN_ID: runId,
      RETRACE_BACKEND: backend,
      RETRACE_COLLECTOR_SHARE: share,
      RETRACE_METRICS_PORT: metricsPort === undefined ? undefined : `${metricsPort}`,
    },
    json: json === true,
    announcement: `collecting for run ${runId}`,
  });
}
