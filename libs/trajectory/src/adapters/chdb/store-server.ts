import { mkdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Authentication, type StoreUser } from './authentication.js';
import { Engine } from './engine.js';
import { createRequestListener } from './http-interface.js';
import { QueryHandler } from './query-handler.js';
import { ResultPipes } from './result-pipe.js';
import { StoreServerError } from './store-server-error.js';

export interface StoreServerOptions {
  /** Belongs to this process while the server runs; made where it doesn't exist. */
  readonly dataDirectory: string;
  /** Address to listen on; loopback unless given. */
  readonly host?: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly users: readonly StoreUser[];
  /** Largest request body after decompression (default 2 GiB). */
  readonly maxBodyBytes?: number;
}

export interface StoreServer {
  readonly url: string;
  /** Version of the ClickHouse engine. */
  readonly version: string;
  /** Takes no more requests, lets running statements finish, and gives the data directory back. */
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 128 * 1024;
const DEFAULT_MAX_BODY_BYTES = 2 * 1024 ** 3;

/**
 * Serves a data directory over ClickHouse's HTTP protocol.
 *
 * A running statement holds a libuv thread, so UV_THREADPOOL_SIZE (4 where it isn't set) bounds how many run at once.
 *
 * @throws StoreServerError when the data directory or the address can't be had
 */
export async function startStoreServer(options: StoreServerOptions): Promise<StoreServer> {
  const engine = await Engine.open(options.dataDirectory);
  try {
    const exchangeDirectory = join(options.dataDirectory, 'exchange');
    // Holds what a killed server left behind; the engine's lock says that no other server is using it.
    await rm(exchangeDirectory, { recursive: true, force: true });
    await mkdir(exchangeDirectory, { mode: 0o700 });
    const numThreads = numStatementThreads();
    const handler = new QueryHandler({
      engine,
      pipes: await ResultPipes.create(exchangeDirectory, numThreads),
      spoolDirectory: exchangeDirectory,
      numThreads,
      maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    });
    const server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 30_000, requestTimeout: 0 },
      createRequestListener({
        authentication: new Authentication(options.users),
        handler,
        version: engine.version,
      }),
    );
    const url = await listen(server, options.host ?? '127.0.0.1', options.port);
    return {
      url,
      version: engine.version,
      close: async () => {
        await closeServer(server);
        await engine.close();
      },
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Two threads of libuv's pool stay free for files and compression; below three there would be a lane without one. */
function numStatementThreads(): number {
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

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function asListenError(error: NodeJS.ErrnoException, host: string, port: number): StoreServerError {
  if (error.code === 'EADDRINUSE') {
    return new StoreServerError(
      'STORE_ADDRESS_IN_USE',
      `Port ${port} on ${host} is taken; stop the program that uses it, or choose another port.`,
      {
        retriable: true,
        cause: error,
      },
    );
  }
  return new StoreServerError(
    'STORE_ADDRESS_UNUSABLE',
    `The store can not listen on ${host}:${port}: ${error.message}`,
    { cause: error },
  );
}
