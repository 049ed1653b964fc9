/** The program that tests start as a separate process: serves the directory that its environment names until SIGTERM. */
import { startStoreServer } from '../store-server.js';

const { STORE_DIRECTORY, STORE_HOST, STORE_PORT, STORE_PASSWORD, STORE_READONLY_PASSWORD } = process.env;

try {
  const server = await startStoreServer({
    dataDirectory: String(STORE_DIRECTORY),
    host: STORE_HOST,
    port: Number(STORE_PORT),
    users: [
      { name: 'retrace', password: String(STORE_PASSWORD), access: 'full' },
      { name: 'retrace_readonly', password: String(STORE_READONLY_PASSWORD), access: 'readonly' },
    ],
  });
  process.stdout.write(`ready at ${server.url}\n`);
  process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
