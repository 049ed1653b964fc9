import { hash, randomBytes } from 'node:crypto';
import { linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest path of a socket on macOS; Linux takes a few more. */
const MAX_SOCKET_PATH_BYTES = 103;
/** Longer than another process, which found the socket stale too, takes between looking at it and putting its own there. */
const TAKE_OVER_MS = 100;

/** A directory that one process has for itself as long as it lives: it listens on a socket, which the system closes with the process. */
export class DirectoryHold {
  private constructor(
    private readonly server: Server,
    private readonly place: SocketPlace | null,
  ) {}

  /**
   * Returns null when another process, or another hold of this one, has the directory.
   *
   * @param name of the socket's file, and of what it is for: a directory may be held once for each
   */
  static async claim(directory: string, name: string): Promise<DirectoryHold | null> {
    const path = socketPath(resolve(directory), name);
    // Windows removes a pipe with its process.
    if (process.platform === 'win32') {
      const server = await listen(path);
      return server === null ? null : new DirectoryHold(server, null);
    }
    // Not longer than the shortest name, so that it fits where that does.
    const ownPath = join(dirname(path), `.${randomBytes(3).toString('hex')}`);
    const server = await listen(ownPath);
    if (server === null) return null;
    const place = { path, socket: socketAt(ownPath) };
    try {
      if (await isPlaced(ownPath, place)) return new DirectoryHold(server, place);
    } catch (error) {
      await closed(server);
      throw error;
    }
    await closed(server);
    return null;
  }

  async release(): Promise<void> {
    const { place } = this;
    if (place !== null && socketAt(place.path) === place.socket) rmSync(place.path, { force: true });
    await closed(this.server);
  }
}

/** Where other processes look for the socket, and which it is. */
interface SocketPlace {
  readonly path: string;
  readonly socket: string | null;
}

/**
 * Gives a socket that is listened on the name that other processes look for; false when one that is listened on has it. A process that
 * was killed leaves its socket there, which is only replaced by the one that sees it unchanged.
 */
async function isPlaced(ownPath: string, { path, socket }: SocketPlace): Promise<boolean> {
  for (;;) {
    const found = socketAt(path);
    if (found === null) {
      if (!isLinked(ownPath, path)) continue;
      rmSync(ownPath);
      return true;
    }
    if (await isAnswered(path)) return false;
    if (socketAt(path) !== found) continue;
    renameSync(ownPath, path);
    await sleep(TAKE_OVER_MS);
    return socketAt(path) === socket;
  }
}

/** Returns false when something has the name already. */
function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Which socket is at a path, whatever its name; null without one. */
function socketAt(path: string): string | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino}:${stats.mtimeNs}`;
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

function closed(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => {
      done();
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
