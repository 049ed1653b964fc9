import { TrajectoryError, type RetraceEvent } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { DEFAULT_MAX_EVENT_BYTES, type EventLog } from '../event-log.js';
import { LogError } from '../log-error.js';
import { decodeLogOpened, newLogOpened } from '../log-opened.js';
import { LmdbLog } from './lmdb-log.js';
import { toLogError } from './log-errors.js';
import { MAX_TRAJECTORY_PARTITIONS, openEnvironment } from './open-environment.js';
import { PartitionStore, type LmdbEnvironment } from './partition-store.js';

const DEFAULT_TRAJECTORY_PARTITIONS = 1;
export interface LmdbLogOptions {
  /** Directory of the log; created if it does not exist. */
  readonly path: string;
  /** Name and version of the program, stored in `LogOpened` of a new log. */
  readonly createdBy: string;
  /** Partitions of stream `trajectories`, fixed when the log is created (default 1; more split a sink's batches into more inserts). */
  readonly numTrajectoryPartitions?: number;
  /** Largest episode event that is accepted (default 8 MiB). */
  readonly maxEventBytes?: number;
}

/**
 * Opens the event log in a directory, which it creates on first use. Any number of processes may have it open at once.
 *
 * Appends that arrive during a commit share the next one. An append is on disk when it resolves.
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

function openLog(environment: LmdbEnvironment, options: LmdbLogOptions): EventLog {
  const { path, maxEventBytes = DEFAULT_MAX_EVENT_BYTES } = options;
  const control = new PartitionStore(environment, { path, stream: 'control', partition: 0 });
  const opened = readOrWriteLogOpened(environment, control, options);
  requireSamePartitions(opened, options);
  const trajectories = Array.from(
    { length: opened.payload.partitions.trajectories },
    (_, partition) => new PartitionStore(environment, { path, stream: 'trajectories', partition }),
  );
  const cursors = environment.openDB<number, string>('cursors', { encoding: 'msgpack' });
  const partitions = { trajectories, control: [control] };
  return new LmdbLog({ path, logId: opened.logId, maxEventBytes, environment, cursors, partitions });
}

/** Runs in a write transaction, which excludes other processes, so a log has exactly one `LogOpened`. */
function readOrWriteLogOpened(
  environment: LmdbEnvironment,
  control: PartitionStore,
  { path, createdBy, numTrajectoryPartitions = DEFAULT_TRAJECTORY_PARTITIONS }: LmdbLogOptions,
): RetraceEvent<'LogOpened'> {
  return environment.transactionSync(() => {
    const existing = control.get(0);
    if (existing !== undefined) return decodeLogOpened(existing, `the event log at ${path}`);
    const partitions = { trajectories: numTrajectoryPartitions, control: 1 };
    const opened = newLogOpened({ adapter: 'lmdb', createdBy, partitions });
    control.append([encodeEvent(opened)]);
    return opened;
  });
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
    `as when the event log at ${path} was created, or left out`;
  throw new LogError('LOG_INCOMPATIBLE', message);
}
