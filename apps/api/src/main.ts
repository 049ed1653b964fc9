/** The API as a process: `node apps/api/dist/main.js`, configured by its environment. */
import { runProcess } from '@retrace/process';
import { readApiConfig } from './config/api-config.js';
import { runApi, SHUTDOWN_MS } from './run-api.js';

await runProcess(process.env, (supervised) => runApi(readApiConfig(process.env), supervised), {
  graceMs: SHUTDOWN_MS,
});
