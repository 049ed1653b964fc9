import { accessSync, constants, mkdirSync } from 'node:fs';
import { open } from 'lmdb';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import { TrajectoryError } from '@retrace/trajectory';
import { LogError } from '../log-error.js';
import { DEFAULT_MAX_EVENT_BYTES, type EventLog } from '../event-log.js';
import type { RetraceEvent } from '@retrace/trajectory';
import { newControlEventId } from '@retrace/trajectory';
import { newControlEvent } from '@retrace/trajectory';
import { assertLmdbDataFile } from './data-file.js';
import { LmdbLog } from './lmdb-log.js';
import { toLogError } from './log-errors.js';
import { PartitionStore, type LmdbEnvironment } from './partition-store.js';

const DEFAULT_TRAJECTORY_PARTITIONS = 1;
const MAX_TRAJECTORY_PARTITIONS = 128;

/** Named databases: the partitions, control and the cursors. */
const MAX_DATABASES = MAX_TRAJECTORY_PARTITIONS + 2;

/** Address space reserved at first, so that a growing log is seldom mapped anew; nothing is allocated. */
const MAP_BYTES = 64 * 1024 ** 3;

export interface LmdbLogOptions {
  /** Directory of the log; made if it is not there. */
  readonly path: string;
  /** Who opens it: name and version of the program, kept in `LogOpened`. */
  readonly createdBy: string;
  /** Partitions of stream `trajectories`, fixed when the log is made (default 1: one insert a batch; more only spread it). */
  readonly numTrajectoryPartitions?: number;
  /** Largest episode event that counts (default 8 MiB). */
  readonly maxEventBytes?: number;
}

/**
 * Opens the event log in a directory, making it on first use. Any number of processes may have it open at once.
 *
 * Appends that arrive while a commit is on its way to disk share the next one. A commit is on disk when it resolves.
 *
 * @throws LogError `LOG_NOT_WRITABLE`, `LOG_DISK_FULL`, `LOG_CORRUPT`; `LOG_INCOMPATIBLE` when the log has another number of
 *   partitions than the one asked for
 */
export async function openLmdbLog(options: LmdbLogOptions): Promise<EventLog> {
  const { path } = options;
  requirePartitions(options.numTrajectoryPartitions);
  let environment: LmdbEnvironment | null = null;
  try {
    environment = openEnvironment(path);
    return openLog(environment, options);
  } catch (error) {
    await environment?.close();
    throw await toLogError('opening', path, error);
  }
}

function openEnvironment(path: string): LmdbEnvironment {
  mkdirSync(path, { recursive: true });
  accessSync(path, constants.W_OK | constants.X_OK);
  assertLmdbDataFile(path);
  return open({
    path,
    encoding: 'binary',
    keyEncoding: 'binary',
    maxDbs: MAX_DATABASES,
    mapSize: MAP_BYTES,
    noSubdir: false,
    // With it, commits resolve before they are on disk.
    overlappingSync: false,
    // Appends are batched here. The driver's own batching leaves a promise behind whose rejection, when a commit fails,
    // nobody handles: it would end the process.
    eventTurnBatching: false,
  });
}

function openLog(environment: LmdbEnvironment, options: LmdbLogOptions): EventLog {
  const control = new PartitionStore(environment, 'control', 0);
  const opened = readOrWriteLogOpened(environment, control, options);
  requireSamePartitions(opened, options);
  const trajectories = Array.from(
    { length: opened.payload.partitions.trajectories },
    (_, partition) => new PartitionStore(environment, 'trajectories', partition),
  );
  const cursors = environment.openDB<number, string>('cursors', { encoding: 'msgpack' });
  const partitions = { trajectories, control: [control] };
  const { path, maxEventBytes = DEFAULT_MAX_EVENT_BYTES } = options;
  return new LmdbLog({ path, logId: opened.logId, maxEventBytes, environment, cursors, partitions });
}

/** In one write transaction, which only one process can be in: so there is exactly one `LogOpened`. */
function readOrWriteLogOpened(
  environment: LmdbEnvironment,
  control: PartitionStore,
  { path, createdBy, numTrajectoryPartitions = DEFAULT_TRAJECTORY_PARTITIONS }: LmdbLogOptions,
): RetraceEvent<'LogOpened'> {
  return environment.transactionSync(() => {
    const existing = control.get(0);
    if (existing !== undefined) return decodeLogOpened(existing, path);
    const opened = newControlEvent({
      kind: 'LogOpened',
      logId: newControlEventId(),
      runId: '',
      occurredAtUs: Date.now() * 1000,
      payload: {
        adapter: 'lmdb',
        createdBy,
        partitions: { trajectories: numTrajectoryPartitions, control: 1 },
      },
    });
    control.append([encodeEvent(opened)]);
    return opened;
  });
}

function decodeLogOpened(bytes: Uint8Array, path: string): RetraceEvent<'LogOpened'> {
  const decoded = decodeEvent(bytes);
  if (!decoded.ok) {
    throw new LogError(
      'LOG_CORRUPT',
      `control record 0 of the event log at ${path} can't be read: ${decoded.reason}`,
    );
  }
  if (decoded.event.kind !== 'LogOpened') {
    throw new LogError('LOG_CORRUPT', `control record 0 of the event log at ${path} is no LogOpened`);
  }
  return decoded.event;
}

function requirePartitions(numPartitions: number | undefined): void {
  if (numPartitions === undefined) return;
  if (!Number.isInteger(numPartitions) || numPartitions < 1 || numPartitions > MAX_TRAJECTORY_PARTITIONS) {
    const rule = `must be an integer from 1 to ${MAX_TRAJECTORY_PARTITIONS}`;
    throw new TrajectoryError('INVALID_ARGUMENT', `numTrajectoryPartitions is ${numPartitions}; ${rule}`);
  }
}

function requireSamePartitions(
  opened: RetraceEvent<'LogOpened'>,
  { path, numTrajectoryPartitions }: LmdbLogOptions,
): void {
  const existing = opened.payload.partitions;
  if (numTrajectoryPartitions === undefined || numTrajectoryPartitions === existing.trajectories) return;
  const message =
    `numTrajectoryPartitions is ${numTrajectoryPartitions}; must be ${existing.trajectories}, ` +
    `as the event log at ${path} was made with (or left out)`;
  throw new LogError('LOG_INCOMPATIBLE', message);
}
