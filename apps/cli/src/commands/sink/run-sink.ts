import type { CommonOptions } from '../../options.js';
import { requireServices, runRoleInProcess } from '../../services/run-role-in-process.js';

interface SinkOptions extends CommonOptions {
  /** Such as `1/3`; '' for the whole log. */
  readonly share: string;
}

/** Runs a sink in this process, on the log and store that the environment names. */
export async function runSink({ dataDir, share, json }: SinkOptions): Promise<void> {
  await runRoleInProcess('sink', requireServices('sink', dataDir), {
    variables: { RETRACE_SINK_SHARE: share },
    json: json === true,
  });
}
