import { accessSync, constants, mkdirSync } from 'node:fs';
import { openAsClass, type RootDatabaseOptionsWithPath } from 'lmdb';
import { checkDataFile, checkHeldDataFile } from './data-file/check-data-file.js';
import { inSnapshot } from './in-snapshot.js';
import type { LmdbEnvironment } from './partition-store.js';

export const MAX_TRAJECTORY_PARTITIONS = 128;

/** Named databases: one for each partition, one for `control` and one for cursors. */
const MAX_DATABASES = MAX_TRAJECTORY_PARTITIONS + 2;

/** Address space that is reserved at first, without allocating it, so that a growing log is seldom mapped again. */
const MAP_BYTES = 64 * 1024 ** 3;

/** Message of the driver for a transaction that it could not begin. */
const NO_TRANSACTION = /No transaction to renew/;
const MAX_ATTEMPTS = 50;
const MAX_PAUSE_MS = 20;

/** A store class of the driver's, bound to one environment. */
type StoreClass = new (name: null, options: RootDatabaseOptionsWithPath & typeof ROOT) => LmdbEnvironment;

/** Marks the store that closes its environment. */
const ROOT = { isRoot: true } as const;

/**
 * Opens the environment in a directory, which it creates. Beside a process that commits all the time, only a snapshot says whether its pages
 * are whole, and so the driver comes first: such a process uses the same pages through the same driver.
 *
 * @throws LogError `LOG_CORRUPT`; what the file system throws
 */
export function openEnvironment(path: string): LmdbEnvironment {
  mkdirSync(path, { recursive: true });
  accessSync(path, constants.W_OK | constants.X_OK);
  const isSound = checkDataFile(path);
  const environment = openDriver(path);
  if (isSound) return environment;
  try {
    inSnapshot(environment, () => {
      checkHeldDataFile(path);
    });
    return environment;
  } catch (error) {
    void environment.close();
    throw error;
  }
}

/**
 * The last process that closes an environment destroys the locks in its lock file, and one that opens it at that moment takes them for
 * good: none of its transactions can begin. It closes the environment and opens it again, which makes new locks.
 */
function openDriver(path: string): LmdbEnvironment {
  for (let attempt = 1; ; attempt++) {
    const options = environmentOptions(path);
    const Store = openAsClass(options) as unknown as StoreClass;
    try {
      return new Store(null, { ...options, ...ROOT });
    } catch (error) {
      closeUnopened(Store);
      if (attempt === MAX_ATTEMPTS || !NO_TRANSACTION.test(String(error))) throw error;
      pause(Math.random() * MAX_PAUSE_MS);
    }
  }
}

function environmentOptions(path: string): RootDatabaseOptionsWithPath {
  return {
    path,
    encoding: 'binary',
    keyEncoding: 'binary',
    maxDbs: MAX_DATABASES,
    mapSize: MAP_BYTES,
    noSubdir: false,
    // With `true`, commits resolve before they are on disk.
    overlappingSync: false,
    // `GroupCommit` batches appends. After a failed commit, the driver's own batching leaves a rejected promise that
    // nobody handles, which would end the process.
    eventTurnBatching: false,
  };
}

/** Closes the environment of a store whose constructor threw, to which only the class has access. */
function closeUnopened(Store: StoreClass): void {
  const store = Object.assign(Object.create(Store.prototype as object) as LmdbEnvironment, ROOT);
  void store.close();
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
