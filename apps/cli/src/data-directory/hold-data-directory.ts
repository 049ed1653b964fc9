import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectory, type ServerAddress } from '@retrace/process';
import { CliError } from '../cli-error.js';
import { DataDirectoryLock } from './lock.js';

/** Long enough for the children of a killed server to notice and to end. */
const waitForHolderMs = 30_000;

export interface HeldDataDirectory {
  readonly directory: DataDirectory;
  readonly lock: DataDirectoryLock;
}

/**
 * Takes a data directory for this process tree, made ready for use.
 *
 * @throws CliError `DATA_DIRECTORY_IN_USE`, naming the server that holds it; at once where one serves.
 * @throws ProcessError `DATA_DIRECTORY_UNUSABLE` when it can't be made or written.
 */
export async function holdDataDirectory(
  path: string,
  onWait: (message: string) => void = () => undefined,
): Promise<HeldDataDirectory> {
  const directory = new DataDirectory(path);
  directory.prepare();
  let hasTold = false;
  const lock = await DataDirectoryLock.acquire(lockDirectory(directory), {
    waitMs: waitForHolderMs,
    shownAs: path,
    onWait: () => {
      const server = directory.runningServer();
      if (server) throw inUseBy(path, server);
      if (!hasTold) onWait(`waiting for another retrace process to let go of ${path}`);
      hasTold = true;
    },
  });
  directory.withdrawServer();
  return { directory, lock };
}

/**
 * The server that holds the directory, or null when nobody does.
 * While a holder has no address yet (it starts, or is a short command) this waits for either.
 */
export async function findServer(path: string): Promise<ServerAddress | null> {
  const directory = new DataDirectory(path);
  const deadline = Date.now() + waitForHolderMs;
  while (DataDirectoryLock.isHeld(lockDirectory(directory))) {
    const server = directory.runningServer();
    if (server) return server;
    if (Date.now() > deadline) {
      throw new CliError(
        'DATA_DIRECTORY_IN_USE',
        `data directory ${path}: in use by a retrace command that has no server; try again when it has ended`,
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
    `data directory ${path}: in use by process ${String(server.pid)}, which ${serves}; stop it, or choose another with --data-dir`,
  );
}
