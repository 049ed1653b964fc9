import type { CommonOptions } from '../../options.js';
import { acceptsOtherLog, requireServices, runRoleInProcess } from '../../run/run-role-in-process.js';

interface ApiOptions extends CommonOptions {
  readonly port: number;
  readonly withSink?: true;
  readonly acceptOtherLog?: true;
}

/** Runs the API in this process, on the log and store that the environment names. */
export async function serveApi({ dataDir, port, withSink, acceptOtherLog, json }: ApiOptions): Promise<void> {
  const services = requireServices('api', dataDir);
  const variables = {
    RETRACE_API_PORT: `${port}`,
    RETRACE_SINK: withSink === true ? 'on' : 'off',
    ...acceptsOtherLog(acceptOtherLog),
  };
  await runRoleInProcess('api', services, { variables, json: json === true });
}
