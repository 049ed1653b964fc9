import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { isJsonObject } from '@retrace/trajectory/json';
import type { CheckpointStorageConfig } from './environment/checkpoint-storage.js';
import { ProcessError } from './process-error.js';

export interface Credentials {
  readonly user: string;
  readonly password: string;
  readonly readonlyUser: string;
  readonly readonlyPassword: string;
}

const CREDENTIALS = [
  'user',
  'password',
  'readonlyUser',
  'readonlyPassword',
] as const satisfies readonly (keyof Credentials)[];

/** Content of `server.json`, which a running server writes. */
export interface ServerAddress {
  readonly pid: number;
  readonly apiUrl: string;
  readonly storeUrl: string;
  /** Whether it brings the store up to date with the log all the time. */
  readonly hasSink: boolean;
  readonly startedAt: string;
}

/** Parts of a data directory that are stored elsewhere. */
interface DataDirectoryPlaces {
  readonly checkpoints?: string;
  readonly tokenizers?: string;
  /** Users of a store outside the directory. */
  readonly credentials?: Credentials;
}

/** The layout of a data directory. The constructor reads and writes nothing. */
export class DataDirectory {
  readonly root: string;
  readonly log: string;
  readonly store: string;
  readonly checkpoints: string;
  readonly tokenizers: string;
  /** Events that collectors could not append yet. */
  readonly spool: string;
  /** API keys, hashed. */
  readonly keys: string;
  /** Spans of traces that are still open. */
  readonly traces: string;
  /** Journal and spool of the proxy that the server of the directory runs for agents. */
  readonly agents: string;
  /** Which alarms were sent. */
  readonly alarms: string;
  private readonly credentialsFile: string;
  private readonly storageFile: string;
  private readonly serverFile: string;
  private readonly storePortFile: string;
  private readonly runQueueFile: string;

  constructor(
    path: string,
    private readonly places: DataDirectoryPlaces = {},
  ) {
    this.root = resolve(path);
    this.log = join(this.root, 'log');
    this.store = join(this.root, 'store');
    this.checkpoints = places.checkpoints ?? join(this.root, 'checkpoints');
    this.tokenizers = places.tokenizers ?? join(this.root, 'tokenizers');
    this.spool = join(this.root, 'spool');
    this.keys = join(this.root, 'keys');
    this.traces = join(this.root, 'traces');
    this.agents = join(this.root, 'agents');
    this.alarms = join(this.root, 'alarms');
    this.credentialsFile = join(this.root, 'credentials.json');
    this.storageFile = join(this.root, 'checkpoint-storage.json');
    this.serverFile = join(this.root, 'server.json');
    this.storePortFile = join(this.root, 'store-port.json');
    this.runQueueFile = join(this.root, 'run-queue.json');
  }

  /** @throws ProcessError `DATA_DIRECTORY_UNUSABLE` when it can't be created or written. */
  prepare(): void {
    try {
      for (const path of [this.root, this.log, this.store, this.checkpoints, this.tokenizers]) {
        mkdirSync(path, { recursive: true, mode: 0o700 });
        accessSync(path, constants.W_OK);
      }
    } catch (cause) {
      throw new ProcessError(
        'DATA_DIRECTORY_UNUSABLE',
        `data directory ${this.root}: can't be written (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}); choose another with --data-dir`,
        { cause },
      );
    }
  }

  /**
   * Returns the store's users. The first call creates their passwords, and stores them in a file with mode 600.
   *
   * @throws ProcessError `DATA_DIRECTORY_UNUSABLE` when the file is damaged
   */
  credentials(): Credentials {
    if (this.places.credentials !== undefined) return this.places.credentials;
    if (existsSync(this.credentialsFile)) {
      const stored = readJson(this.credentialsFile);
      if (isCredentials(stored)) return stored;
      throw new ProcessError(
        'DATA_DIRECTORY_UNUSABLE',
        `${this.credentialsFile} is damaged; it must be a JSON file with ${CREDENTIALS.join(', ')}. ` +
          'Restore it from a backup, or remove it while nothing runs: the next start makes new passwords',
      );
    }
    const made: Credentials = {
      user: 'retrace',
      password: randomBytes(24).toString('base64url'),
      readonlyUser: 'retrace_readonly',
      readonlyPassword: randomBytes(24).toString('base64url'),
    };
    this.writeAtomically(this.credentialsFile, made);
    return made;
  }

  /** Returns the object storage that has the directory's checkpoints; null where they are in the directory. */
  checkpointStorage(): CheckpointStorageConfig | null {
    const stored = readJson(this.storageFile) as Partial<CheckpointStorageConfig> | null;
    return typeof stored?.url === 'string' ? (stored as CheckpointStorageConfig) : null;
  }

  /** Makes later commands find the checkpoints in this storage. */
  keepCheckpointStorage(storage: CheckpointStorageConfig): void {
    this.writeAtomically(this.storageFile, storage);
  }

  /**
   * Returns the server that holds this directory, or null if its process is not running; a killed server leaves its file behind. The file
   * only says where a server is, so a damaged one counts as none.
   */
  runningServer(): ServerAddress | null {
    const address = readJson(this.serverFile) as Partial<ServerAddress> | null;
    return typeof address?.pid === 'number' && isProcessAlive(address.pid)
      ? (address as ServerAddress)
      : null;
  }

  /** Returns what `keepRunQueue` wrote last, as JSON; null where there is none, or it is damaged. */
  runQueue(): unknown {
    return readJson(this.runQueueFile);
  }

  /** Keeps the runs that wait for the server of this directory, for the next one. */
  keepRunQueue(queue: unknown): void {
    this.writeAtomically(this.runQueueFile, queue);
  }

  /** Whether a store was ever made in it. */
  get hasStore(): boolean {
    return readdirSync(this.store).length > 0;
  }

  /** @throws ProcessError `DATA_DIRECTORY_IN_USE` when another running process holds it. */
  announceServer(address: ServerAddress): void {
    const holder = this.runningServer();
    if (holder && holder.pid !== address.pid) {
      throw new ProcessError(
        'DATA_DIRECTORY_IN_USE',
        `data directory ${this.root}: in use by process ${holder.pid}, which serves ${holder.apiUrl}; stop it, or choose another with --data-dir`,
      );
    }
    this.writeAtomically(this.serverFile, address);
    if (address.hasSink) this.writeAtomically(this.storePortFile, Number(new URL(address.storeUrl).port));
  }

  /** The port that the store of the last server had, where runs that joined that server may still look for it; null before there was one. */
  lastStorePort(): number | null {
    const port = readJson(this.storePortFile);
    return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
  }

  withdrawServer(): void {
    rmSync(this.serverFile, { force: true });
  }

  private writeAtomically(path: string, value: unknown): void {
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    renameSync(temporary, path);
  }
}

/** Returns the content of a regular file; null where there is none, or it is no JSON. */
export function readJson(path: string): unknown {
  try {
    return statSync(path).isFile() ? JSON.parse(readFileSync(path, 'utf8')) : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function isCredentials(value: unknown): value is Credentials {
  return (
    isJsonObject(value) && CREDENTIALS.every((name) => typeof value[name] === 'string' && value[name] !== '')
  );
}

/** Whether a process of this machine has this id, whoever's it is. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
