import type { EventLog } from './event-log.js';
import type { ExclusiveRole, HoldOptions } from './kafka/exclusive-role.js';
import type { KafkaLogOptions } from './kafka/kafka-options.js';
import type { LogTopics } from './kafka/log-topics.js';

/** Location of an event log: a directory of this machine, or topics of a Kafka cluster. */
export type LogLocation =
  | { readonly kind: 'lmdb'; readonly path: string; readonly maxEventBytes?: number }
  | ({ readonly kind: 'kafka' } & Omit<KafkaLogOptions, 'createdBy'>);

/**
 * Opens the log at a location. Loads only the driver that it needs.
 *
 * @param createdBy name and version of the program, stored in `LogOpened` of a new log
 * @throws LogError as `openLmdbLog` and `openKafkaLog`
 */
export async function openLog(location: LogLocation, createdBy: string): Promise<EventLog> {
  if (location.kind === 'lmdb') {
    const { openLmdbLog } = await import('./lmdb/open-lmdb-log.js');
    return openLmdbLog({ ...location, createdBy });
  }
  const { openKafkaLog } = await import('./kafka/open-kafka-log.js');
  return openKafkaLog({ ...location, createdBy });
}

/**
 * Takes a role, or a share of it, that only one process at a time may play on a log, such as the collector of a run. Does nothing for a log
 * in a directory, which one server holds as a whole.
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
 * Finds and checks the topics of a log on Kafka without opening the log; null when they don't exist yet.
 *
 * @throws LogError as `openKafkaLog`
 */
export async function describeLog(
  location: Extract<LogLocation, { kind: 'kafka' }>,
): Promise<LogTopics | null> {
  const { describeKafkaLog } = await import('./kafka/open-kafka-log.js');
  return describeKafkaLog({ ...location, createdBy: '' });
}
