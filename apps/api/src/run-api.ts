import { once } from 'node:events';
import type { Supervised } from '@retrace/process';
import type { ApiConfig } from './config/api-config.js';
import { RunControl } from './run-queue/run-control.js';
import { startApiServer } from './server.js';

/** How long requests under way may take when the API is asked to stop. */
export const SHUTDOWN_MS = 10_000;

/** Serves the API until the process is asked to stop. */
export async function runApi(
  config: ApiConfig,
  { signal, send, ask, isSupervised }: Supervised,
): Promise<void> {
  const runControl = new RunControl(config.hasRunControl ? ask : null);
  const server = await startApiServer(config, { recordsWarnings: !isSupervised, runControl });
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  if (!server.servesDashboard)
    process.stdout.write('warn no dashboard to serve; build it with: npm run build\n');
  send({ type: 'listening', url: server.url });
  await Promise.race([server.storeReady, stopped]);
  if (!signal.aborted) {
    process.stdout.write(`info serves ${server.url}\n`);
    send({ type: 'ready', url: server.url });
  }
  await stopped;
  setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
  await server.close();
}
