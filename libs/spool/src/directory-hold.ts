import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Longest path of a socket on macOS; Linux takes a few more. */
const MAX_SOCKET_PATH_BYTES = 103;

/** A directory that one process has for itself as long as it lives: it listens on a socket, which the system closes with the process. */
export class DirectoryHold {
  private constructor(private readonly server: Server) {}

  /**
   * Returns null when another process, or another hold of this one, has the directory.
   *
   * @param name of the socket's file, and of what it is for: a directory may be held once for each
   */
  static async claim(directory: string, name: string): Promise<DirectoryHold | null> {
    const path = socketPath(resolve(directory), name);
    const server = await listen(path);
    if (server !== null) return new DirectoryHold(server);
    if (await isAnswered(path)) return null;
    await rm(path, { force: true });
    const second = await listen(path);
    return second === null ? null : new DirectoryHold(second);
  }

  release(): Promise<void> {
    return new Promise((done) => {
      this.server.close(() => {
        done();
      });
    });
  }
}

/** Returns null when something is at the path already. */
function listen(path: string): Promise<Server | null> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') done(null);
      else fail(error);
    });
    server.listen(path, () => {
      server.unref();
      done(server);
    });
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    const answer = (answered: boolean) => {
      socket.destroy();
      done(answered);
    };
    socket.once('connect', () => {
      answer(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      // Only these two say that nobody listens.
      answer(code !== 'ENOENT' && code !== 'ECONNREFUSED');
    });
  });
}

function socketPath(directory: string, name: string): string {
  const elsewhere = `retrace-${name}-${hash('sha256', directory, 'hex').slice(0, 16)}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${elsewhere}`;
  const path = join(directory, `${name}.sock`);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : join(tmpdir(), `${elsewhere}.sock`);
}
