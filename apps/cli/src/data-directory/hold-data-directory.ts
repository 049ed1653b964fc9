import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectory, type ServerAddress } from '@retrace/process';
import { CliError } from '../cli-error.js';
import { DataDirectoryLock } from './lock.js';

/** Long enough for the children of a killed server to notice that and end. */
const WAIT_FOR_HOLDER_MS = 30_000;

export interface HeldDataDirectory {
  readonly directory: DataDirectory;
  readonly lock: DataDirectoryLock;
}

/**
 * Locks a data directory for this process tree and prepares it for use.
 *
 * @throws CliError `DATA_DIRECTORY_IN_USE`, naming the server that holds it; at once if a server runs there
 * @throws ProcessError `DATA_DIRECTORY_UNUSABLE` when it can't be created or written
 */
export async function holdDataDirectory(
  path: string,
  onWait: (message: string) => void = () => undefined,
): Promise<HeldDataDirectory> {
  const directory = new DataDirectory(path);
  directory.prepare();
  let hasTold = false;
  const lock = await DataDirectoryLock.acquire(lockDirectory(directory), {
    waitMs: WAIT_FOR_HOLDER_MS,
    shownAs: path,
    onWait: () => {
      const server = directory.runningServer();
      if (server) throw inUseBy(path, server);
      if (!hasTold) onWait(`waiting for another retrace process to release ${path}`);
      hasTold = true;
    },
  });
  directory.withdrawServer();
  return { directory, lock };
}

/**
 * Finds the server that holds the directory; null when no process holds it.
 * Waits while the holder has no address: it is a server that is starting, or a short command.
 *
 * @throws CliError `DATA_DIRECTORY_IN_USE` when that takes too long
 */
export async function findServer(path: string): Promise<ServerAddress | null> {
  const directory = new DataDirectory(path);
  const deadline = performance.now() + WAIT_FOR_HOLDER_MS;
  while (DataDirectoryLock.isHeld(lockDirectory(directory))) {
    const server = directory.runningServer();
    if (server) return server;
    if (performance.now() > deadline) {
      throw new CliError(
        'DATA_DIRECTORY_IN_USE',
        `data directory ${path}: in use by another retrace command; try again when it has ended`,
        { retriable: true },
      );
    }
    await sleep(100);
  }
  return null;
}

function lockDirectory(directory: DataDirectory): string {
  return join(directory.root, 'lock');
}

function inUseBy(path: string, server: ServerAddress): CliError {
  const serves = `serves ${server.apiUrl === '' ? server.storeUrl : server.apiUrl}`;
  return new CliError(
    'DATA_DIRECTORY_IN_USE',
    `data directory ${path}: in use by process ${server.pid}, which ${serves}; stop it, or choose another with --data-dir`,
  );
}
