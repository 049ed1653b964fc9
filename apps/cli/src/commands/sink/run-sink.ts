import type { CommonOptions } from '../../options.js';
import { acceptsOtherLog, requireServices, runRoleInProcess } from '../../run/run-role-in-process.js';

interface SinkOptions extends CommonOptions {
  /** Such as `1/3`; '' for the whole log. */
  readonly share: string;
  readonly acceptOtherLog?: true;
}

/** Runs a sink in this process, on the log and store that the environment names. */
export async function runSink({ dataDir, share, acceptOtherLog, json }: SinkOptions): Promise<void> {
  await runRoleInProcess('sink', requireServices('sink', dataDir), {
    variables: { RETRACE_SINK_SHARE: share, ...acceptsOtherLog(acceptOtherLog) },
    json: json === true,
  });
}
