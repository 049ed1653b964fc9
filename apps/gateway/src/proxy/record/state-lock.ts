import { mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { GatewayError } from '../../http/gateway-error.js';

/** Longest path of a socket on macOS; Linux takes a few more. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Holds a state directory for this process: it listens on a socket, which the operating system closes with the process, however that
 * ends.
 *
 * @returns what gives it back
 * @throws GatewayError `STATE_DIRECTORY_UNUSABLE` when another process holds it, or it can't be made
 */
export async function holdStateDirectory(directory: string): Promise<() => Promise<void>> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = socketPath(directory);
    if (await answers(path)) {
      throw new Error('another proxy uses it; choose another with --state');
    }
    await rm(path, { force: true });
    const server = createServer((socket) => socket.destroy());
    await listenOn(server, path);
    server.unref();
    return () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
      });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError(
      'STATE_DIRECTORY_UNUSABLE',
      `The state directory ${directory} can't be used: ${said}`,
      { cause },
    );
  }
}

function listenOn(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(path, resolve);
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

function socketPath(directory: string): string {
  const name = hash('sha256', absolute(directory), 'hex').slice(0, 16);
  if (process.platform === 'win32') return `\\\\.\\pipe\\retrace-proxy-${name}`;
  const path = join(directory, 'proxy.sock');
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES
    ? path
    : join(tmpdir(), `retrace-proxy-${name}.sock`);
}
