import { mkdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { Authentication, type StoreUser } from './access/authentication.js';
import { Engine } from './engine/engine.js';
import { DiskGuard } from './engine/disk-guard.js';
import { createRequestListener } from './http/http-interface.js';
import { QueryHandler } from './http/query-handler.js';
import { ResultPipes } from './engine/result-pipe.js';
import { StoreServerError } from './store-server-error.js';
import { UserSqlEngine } from './user-sql/user-sql-engine.js';

export interface StoreServerOptions {
  /** Used only by this process while the server runs; created if it doesn't exist. */
  readonly dataDirectory: string;
  /** Address to listen on; loopback unless given. */
  readonly host?: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly users: readonly StoreUser[];
  /** Largest request body after decompression (default 2 GiB). */
  readonly maxBodyBytes?: number;
  /** Time for running statements to finish when the server closes (default 10 s). */
  readonly drainMs?: number;
  /**
   * Called once when the disk did not store what the engine wrote. Every statement is refused from then on; the process must end, and
   * the next one determines which parts are complete.
   */
  readonly onDiskFailure?: (error: StoreServerError) => void;
}

export interface StoreServer {
  readonly url: string;
  /** Version of the ClickHouse engine. */
  readonly version: string;
  /**
   * Stops accepting connections, lets running statements finish (cancels them after `drainMs`), and releases the data
   * directory. Calling it again waits for the same end.
   */
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 128 * 1024;
const DEFAULT_MAX_BODY_BYTES = 2 * 1024 ** 3;
const DEFAULT_DRAIN_MS = 10_000;
const CLOSE_IDLE_MS = 50;

/**
 * Serves a data directory over ClickHouse's HTTP protocol.
 *
 * A running statement holds a libuv thread, so UV_THREADPOOL_SIZE (4 by default) limits how many run at once.
 *
 * @throws StoreServerError when the data directory or the address is unavailable
 */
export async function startStoreServer(options: StoreServerOptions): Promise<StoreServer> {
  const dataDirectory = resolve(options.dataDirectory);
  checkDirectoryName(dataDirectory);
  const engine = await Engine.open(dataDirectory);
  try {
    const exchangeDirectory = join(dataDirectory, 'exchange');
    // It may contain files of a killed server; the engine's lock guarantees that no other server uses them.
    await rm(exchangeDirectory, { recursive: true, force: true });
    await mkdir(exchangeDirectory, { mode: 0o700 });
    const maxRunning = maxRunningStatements();
    const guard = new DiskGuard(engine, options.onDiskFailure);
    const userSql = new UserSqlEngine(engine, exchangeDirectory);
    const handler = new QueryHandler({
      engine,
      userSql,
      pipes: await ResultPipes.create(exchangeDirectory, maxRunning),
      spoolDirectory: exchangeDirectory,
      maxRunning,
      maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
      guard,
    });
    const server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 30_000, requestTimeout: 0 },
      createRequestListener({ authentication: new Authentication(options.users), handler, engine }),
    );
    const url = await listen(server, options.host ?? '127.0.0.1', options.port);
    let closed: Promise<void> | null = null;
    const close = async () => {
      guard.stop();
      await drain(server, [engine, userSql], options.drainMs ?? DEFAULT_DRAIN_MS);
      await userSql.close();
      await engine.close();
    };
    return { url, version: engine.version, close: () => (closed ??= close()) };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Refuses characters that have a special meaning in the pattern by which the engine reads spooled bodies. */
function checkDirectoryName(dataDirectory: string): void {
  if (!/[*?{}]/.test(dataDirectory)) return;
  throw new StoreServerError(
    'STORE_DIRECTORY_UNUSABLE',
    `The store's data directory ${dataDirectory} contains one of the characters * ? { } in its path; choose another directory.`,
  );
}

/** Leaves two threads of libuv's pool free for files and compression; each of the three lanes needs at least one. */
function maxRunningStatements(): number {
  const poolSize = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
  return Math.max(3, poolSize - 2);
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(asListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  const { address, port: boundPort, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${boundPort}`;
}

/** Resolves when the last request has been answered, or was abandoned after `drainMs`. */
async function drain(
  server: Server,
  engines: readonly { cancelAll(): Promise<void> }[],
  drainMs: number,
): Promise<void> {
  // Clients keep connections alive after a response, which would keep the server open.
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
  const deadline = setTimeout(() => {
    server.closeAllConnections();
    for (const engine of engines) engine.cancelAll().catch(() => undefined);
  }, drainMs);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(deadline);
  clearInterval(idle);
}

function asListenError(error: NodeJS.ErrnoException, host: string, port: number): StoreServerError {
  if (error.code === 'EADDRINUSE') {
    return new StoreServerError(
      'STORE_ADDRESS_IN_USE',
      `Port ${port} on ${host} is in use; stop the program that uses it, or choose another port.`,
      {
        retriable: true,
        cause: error,
      },
    );
  }
  return new StoreServerError(
    'STORE_ADDRESS_UNUSABLE',
    `The store cannot listen on ${host}:${port}: ${error.message}`,
    { cause: error },
  );
}
