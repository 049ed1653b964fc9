import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDirectory, ServerAddress } from '@retrace/process';
import { FileLock } from '@retrace/spool/file-lock';
import { CliError } from '../cli-error.js';
import { dataDirectoryAt } from './environment.js';
import { acquireLock, isLocked, isShared, lockFiles } from './lock.js';

/** Long enough for the children of a killed server to notice that and end. */
const WAIT_FOR_HOLDER_MS = 30_000;

export interface HeldDataDirectory {
  readonly directory: DataDirectory;
  readonly lock: FileLock;
  /** The server that holds the directory, which this process tree has joined; null where this tree holds it. */
  readonly joined: ServerAddress | null;
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
  const directory = dataDirectoryAt(path);
  directory.prepare();
  let hasTold = false;
  const lock = await acquireLock(lockFiles(directory).held, {
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
  // Its file is the holder's, whoever joins first.
  FileLock.share(lockFiles(directory).joined).release();
  return { directory, lock, joined: null };
}

/**
 * Joins the server that fills the store of a data directory, or locks the directory where no process holds it. Who has joined goes on when that server
 * ends, and others may hold the directory then, except for work that replaces the log (`requireNoneJoined`).
 *
 * @throws as `holdDataDirectory`, also where a store is served that nobody fills
 */
export async function joinOrHoldDataDirectory(
  path: string,
  onWait?: (message: string) => void,
): Promise<HeldDataDirectory> {
  const directory = dataDirectoryAt(path);
  directory.prepare();
  for (;;) {
    const joined = tryToJoin(directory, ({ hasSink }) => hasSink);
    if (joined !== null) return { directory, lock: joined.lock, joined: joined.server };
    try {
      return await holdDataDirectory(path, onWait);
    } catch (error) {
      // One that was starting may be there now.
      if (directory.runningServer()?.hasSink !== true) throw error;
    }
  }
}

/** A server that a command works beside, and the lock that tells others of it. */
interface JoinedServer {
  readonly server: ServerAddress;
  readonly lock: FileLock;
}

/** As `findServer`; until the lock is released, nobody replaces the log, though the server may end. */
export async function joinServer(path: string): Promise<JoinedServer | null> {
  const directory = dataDirectoryAt(path);
  for (;;) {
    if ((await findServer(path)) === null) return null;
    const joined = tryToJoin(directory);
    if (joined !== null) return joined;
  }
}

function tryToJoin(
  directory: DataDirectory,
  isWanted: (server: ServerAddress) => boolean = () => true,
): JoinedServer | null {
  const { held, joined } = lockFiles(directory);
  const find = () => (isLocked(held) ? directory.runningServer() : null);
  const server = find();
  if (server === null || !isWanted(server)) return null;
  const lock = FileLock.share(joined);
  // A server is withdrawn before it lets go, so whoever holds the directory after this one sees the lock.
  if (find()?.pid === server.pid) return { server, lock };
  lock.release();
  return null;
}

/** Whether commands write to the log that joined a server, which need not be there any more. */
export function isJoined(directory: DataDirectory): boolean {
  return isShared(lockFiles(directory).joined);
}

/**
 * For the holder of a data directory, before it replaces the log.
 *
 * @throws CliError `DATA_DIRECTORY_IN_USE` while a command that joined a server writes to the log
 */
export function requireNoneJoined(directory: DataDirectory, path: string): void {
  if (!isJoined(directory)) return;
  throw new CliError(
    'DATA_DIRECTORY_IN_USE',
    `data directory ${path}: a command that joined a server still writes to the log; stop it, or wait for its end`,
    { retriable: true },
  );
}

/**
 * Finds the server that holds the directory; null when no process holds it.
 * Waits while the holder has no address: it is a server that is starting, or a short command.
 *
 * @throws CliError `DATA_DIRECTORY_IN_USE` when that takes too long
 */
export async function findServer(path: string): Promise<ServerAddress | null> {
  const directory = dataDirectoryAt(path);
  const deadline = performance.now() + WAIT_FOR_HOLDER_MS;
  while (isLocked(lockFiles(directory).held)) {
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

function inUseBy(path: string, server: ServerAddress): CliError {
  const serves = `serves ${server.apiUrl === '' ? server.storeUrl : server.apiUrl}`;
  return new CliError(
    'DATA_DIRECTORY_IN_USE',
    `data directory ${path}: in use by process ${server.pid}, which ${serves}; stop it, or choose another with --data-dir`,
  );
}
