import { LogError } from '../log-error.js';
import type { EventLog } from '../event-log.js';
import { KafkaConnection } from './kafka-connection.js';
import { resolveKafkaOptions, type KafkaLogOptions } from './kafka-options.js';
import { KafkaLog } from './kafka-log.js';
import { findReplacement, readOrWriteIdentity } from './log-identity.js';
import { inspectTopics, openTopics, type LogTopics } from './log-topics.js';

/**
 * Opens the event log on a Kafka cluster (3.1 or newer) and creates its two topics on first use. Any number of processes may have it
 * open at once.
 *
 * An append is one record batch in one request, acknowledged once all in-sync replicas have it. Appends that arrive while a batch of
 * their partition is under way share the next one.
 *
 * @throws TrajectoryError `INVALID_ARGUMENT`; LogError `LOG_UNREACHABLE`, `LOG_UNAUTHORIZED`, `LOG_INCOMPATIBLE` naming the
 *   topic setting that is not allowed, `LOG_REPLACED` when one of the two topics was deleted or created again
 */
export async function openKafkaLog(options: KafkaLogOptions): Promise<EventLog> {
  const resolved = resolveKafkaOptions(options);
  const connection = new KafkaConnection(resolved);
  try {
    const topics = await openTopics(connection, resolved);
    await connection.watchTopics([topics.trajectories.topic, topics.control.topic]);
    const identity = await readOrWriteIdentity(connection, resolved, topics);
    connection.onReconnected = async () => {
      connection.fatal ??= await findReplacement(connection, resolved, topics).catch(asFatal);
    };
    return new KafkaLog({ connection, options: resolved, ...identity });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Null for a missing topic, which may appear again after the start of a broker; any other error is thrown. */
function asFatal(error: unknown): null {
  if (error instanceof LogError) return null;
  throw error;
}

/**
 * Finds and checks the topics of a log like `openKafkaLog`; null when they don't exist yet. Changes nothing.
 *
 * @throws as `openKafkaLog`
 */
export async function describeKafkaLog(options: KafkaLogOptions): Promise<LogTopics | null> {
  const resolved = resolveKafkaOptions(options);
  const connection = new KafkaConnection(resolved);
  try {
    return await inspectTopics(connection, resolved);
  } finally {
    connection.close();
  }
}
