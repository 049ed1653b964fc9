import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Longest path of a socket on macOS; Linux takes a few more. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Marks this process as the owner of its files in a spool directory, for as long as it lives: it listens on a socket, which the
 * operating system closes with the process, however that ends. So nobody takes the files of a process that is only busy, and
 * nobody waits for a time limit after a crash.
 */
export class SpoolOwner {
  private constructor(
    readonly directory: string,
    /** Begins the names of this owner's files. */
    readonly id: string,
    private readonly server: Server,
  ) {}

  static async claim(directory: string): Promise<SpoolOwner> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const id = randomBytes(6).toString('hex');
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(socketPath(directory, id), resolve);
    });
    server.unref();
    return new SpoolOwner(directory, id, server);
  }

  /** Whether another owner's process lives. */
  async isAlive(id: string): Promise<boolean> {
    if (id === this.id) return true;
    return new Promise((resolve) => {
      const socket = connect(socketPath(this.directory, id));
      const answer = (alive: boolean) => {
        socket.destroy();
        resolve(alive);
      };
      socket.once('connect', () => {
        answer(true);
      });
      socket.once('error', ({ code }: NodeJS.ErrnoException) => {
        // Only these two say that nobody listens; with any other error the files are left alone.
        answer(code !== 'ENOENT' && code !== 'ECONNREFUSED');
      });
    });
  }

  /** Removes what an owner that ended has left, except its files. */
  async forget(id: string): Promise<void> {
    await rm(socketPath(this.directory, id), { force: true });
  }

  release(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }
}

function socketPath(directory: string, id: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\retrace-spool-${id}`;
  const path = join(directory, `${id}.sock`);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : join(tmpdir(), `retrace-spool-${id}.sock`);
}
