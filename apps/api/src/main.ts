import { superviseThisProcess } from '@retrace/process';
import { readApiConfig } from './config/api-config.js';
import { startApiServer, type ApiServer } from './server.js';

const SHUTDOWN_MS = 10_000;

/** Runs the API as a role of the supervisor, or alone. */
async function main(): Promise<void> {
  const supervised = superviseThisProcess({ graceMs: SHUTDOWN_MS });
  const server = await startApiServer(readApiConfig(process.env));
  supervised.signal.addEventListener('abort', () => void stop(server));
  if (supervised.signal.aborted) return stop(server);
  if (!server.servesDashboard)
    process.stdout.write('warn no dashboard to serve; build it with: npm run build\n');
  await server.storeReady;
  process.stdout.write(`info serves ${server.url}\n`);
  supervised.send({ type: 'ready', url: server.url });
}

async function stop(server: ApiServer): Promise<void> {
  setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
  await server.close();
  process.exit(0);
}

main().catch((error: unknown) => {
  process.stderr.write(`error ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
