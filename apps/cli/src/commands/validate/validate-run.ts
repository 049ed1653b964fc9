import type { BackendChoice } from '@retrace/process';
import type { CommonOptions } from '../../options.js';
import { chooseRunOn } from '../../run/begin-or-choose-run.js';
import { requireServices, runRoleInProcess } from '../../run/run-role-in-process.js';

interface ValidateRunOptions extends CommonOptions {
  readonly run: string;
  /** Port of the validator's Prometheus endpoint. */
  readonly metricsPort?: number;
  readonly backend?: BackendChoice;
}

/** Runs the validator in this process for a run in the log that the environment names, until the run ends. */
export async function validateRun({
  run,
  dataDir,
  metricsPort,
  backend,
  json,
}: ValidateRunOptions): Promise<void> {
  const services = requireServices('validate --work', dataDir);
  const runId = await chooseRunOn(services, run);
  if (runId === null) return;
  await runRoleInProcess('validator', services, {
    variables: {
      RETRACE_RUN_ID: runId,
      RETRACE_BACKEND: backend,
      RETRACE_METRICS_PORT: metricsPort === undefined ? undefined : `${metricsPort}`,
    },
    json: json === true,
    announcement: `validating run ${runId}`,
  });
}
