/**
 * Runs a store server alone: `RETRACE_STORE_DIRECTORY=… RETRACE_STORE_PASSWORD=… node dist/adapters/chdb/main.js`.
 * RETRACE_STORE_HOST (127.0.0.1), RETRACE_STORE_PORT (8123) and RETRACE_STORE_READONLY_PASSWORD are optional.
 */
import { startStoreServer } from './store-server.js';
import { StoreServerError } from './store-server-error.js';

const {
  RETRACE_STORE_DIRECTORY,
  RETRACE_STORE_HOST,
  RETRACE_STORE_PORT,
  RETRACE_STORE_PASSWORD,
  RETRACE_STORE_READONLY_PASSWORD,
} = process.env;

try {
  if (!RETRACE_STORE_DIRECTORY || !RETRACE_STORE_PASSWORD) {
    throw new StoreServerError(
      'STORE_INVALID_OPTIONS',
      'Set RETRACE_STORE_DIRECTORY and RETRACE_STORE_PASSWORD.',
    );
  }
  const server = await startStoreServer({
    dataDirectory: RETRACE_STORE_DIRECTORY,
    host: RETRACE_STORE_HOST ?? '127.0.0.1',
    port: Number(RETRACE_STORE_PORT ?? 8123),
    users: [
      { name: 'retrace', password: RETRACE_STORE_PASSWORD, access: 'full' },
      ...(RETRACE_STORE_READONLY_PASSWORD
        ? [
            {
              name: 'retrace_readonly',
              password: RETRACE_STORE_READONLY_PASSWORD,
              access: 'readonly' as const,
            },
          ]
        : []),
    ],
  });
  process.stdout.write(`store: ClickHouse ${server.version} at ${server.url}\n`);
  const stop = () => void server.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
} catch (error) {
  process.stderr.write(
    `${error instanceof StoreServerError ? error.message : String((error as Error).stack)}\n`,
  );
  process.exitCode = 1;
}
