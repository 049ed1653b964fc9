import type { EventLog } from './event-log.js';
import type { ExclusiveRole, HoldOptions } from './kafka/exclusive-role.js';
import type { KafkaLogOptions } from './kafka/kafka-options.js';
import type { LogTopics } from './kafka/log-topics.js';

/** Where an event log is: in a directory of this machine, or on a Kafka cluster. */
export type LogLocation =
  | { readonly kind: 'lmdb'; readonly path: string; readonly maxEventBytes?: number }
  | ({ readonly kind: 'kafka' } & Omit<KafkaLogOptions, 'createdBy'>);

/**
 * Opens the log at a location; only the driver that it needs is loaded.
 *
 * @param createdBy name and version of the program, kept in `LogOpened` of a new log
 * @throws what `openLmdbLog` and `openKafkaLog` throw
 */
export async function openLog(location: LogLocation, createdBy: string): Promise<EventLog> {
  if (location.kind === 'lmdb') {
    const { openLmdbLog } = await import('./lmdb/open-lmdb-log.js');
    const { path, maxEventBytes } = location;
    return openLmdbLog({ path, createdBy, ...(maxEventBytes !== undefined && { maxEventBytes }) });
  }
  const { openKafkaLog } = await import('./kafka/open-kafka-log.js');
  return openKafkaLog({ ...location, createdBy });
}

/**
 * Holds a role, or a share of it, that one process at a time may play on a log, such as the collector of a run. On a log in a directory that is
 * the business of whoever holds the directory.
 *
 * @throws LogError `LOG_ROLE_TAKEN`
 */
export async function holdRole(
  location: LogLocation,
  role: string,
  options: HoldOptions = {},
): Promise<ExclusiveRole> {
  if (location.kind === 'lmdb') {
    return { lost: new AbortController().signal, release: () => Promise.resolve() };
  }
  const { holdExclusively } = await import('./kafka/exclusive-role.js');
  return holdExclusively({ ...location, createdBy: '' }, role, options);
}

/**
 * What a log on Kafka looks like, without opening or making it; null when its topics are not made yet.
 *
 * @throws LogError as `openKafkaLog`
 */
export async function describeLog(
  location: Extract<LogLocation, { kind: 'kafka' }>,
): Promise<LogTopics | null> {
  const { describeKafkaLog } = await import('./kafka/open-kafka-log.js');
  return describeKafkaLog({ ...location, createdBy: '' });
}
