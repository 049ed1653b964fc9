import type { RetraceEvent } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { LogError } from '../log-error.js';
import { decodeLogOpened, newLogOpened } from '../log-opened.js';
import type { KafkaConnection } from './kafka-connection.js';
import type { ResolvedKafkaOptions } from './kafka-options.js';
import { findTopics, type LogTopics } from './log-topics.js';
import { PartitionProducer } from './partition-producer.js';
import { PartitionReader } from './partition-reader.js';

/**
 * The producer id under which every process writes the first control record. A broker takes one first batch of a producer id and answers any
 * other with the offset of that one, so one `LogOpened` lands however many processes open a new log at once. Brokers hand out ids
 * from 0 upwards and never reach this one.
 */
const OPENER = { producerId: String(2n ** 62n), producerEpoch: 0 };

interface LogIdentity {
  readonly logId: string;
  readonly numTrajectoryPartitions: number;
}

/** Kafka header of the first control record: the id of topic `trajectories`, which changes when the topic is deleted and created again. */
const TRAJECTORIES_HEADER = 'retrace-trajectories';

interface Opened {
  readonly event: RetraceEvent<'LogOpened'>;
  readonly trajectoriesId: string;
}

/**
 * Reads the identity of the log from its first control record, and writes that record if there is none.
 *
 * @throws LogError `LOG_REPLACED` when topic trajectories is not the one the log was opened with, `LOG_INCOMPATIBLE` when it has
 *   another number of partitions, `LOG_CORRUPT` when the first control record is no `LogOpened`
 */
export async function readOrWriteIdentity(
  connection: KafkaConnection,
  options: ResolvedKafkaOptions,
  topics: LogTopics,
): Promise<LogIdentity> {
  const reader = new PartitionReader(connection, topics.control.topic, 0);
  const startOffset = await reader.startOffset();
  if (startOffset > 0) {
    throw new LogError(
      'LOG_RECORDS_MISSING',
      `topic ${topics.control.topic} starts at offset ${startOffset}; must start at 0, with the record that identifies the log`,
    );
  }
  const opened =
    (await readOpened(connection, reader)) ?? (await writeOpened(connection, options, topics, reader));
  const { partitions } = opened.event.payload;
  const { topic, topicId, numPartitions } = topics.trajectories;
  if (topicId !== opened.trajectoriesId) {
    throw new LogError(
      'LOG_REPLACED',
      `topic ${topic} has id ${topicId}; must be ${opened.trajectoriesId}, its id when the log was created: it was deleted and created again. ` +
        `Restore it, or delete ${topics.control.topic} too to start a new log`,
    );
  }
  if (numPartitions !== partitions.trajectories) {
    throw new LogError(
      'LOG_INCOMPATIBLE',
      `topic ${topic}: the number of partitions is ${numPartitions}; must be ${partitions.trajectories}, as when the log was created`,
    );
  }
  return { logId: opened.event.logId, numTrajectoryPartitions: partitions.trajectories };
}

/** The error that ends a handle if one of its topics is not the one that it opened; null if both are. */
export async function findReplacement(
  connection: KafkaConnection,
  options: ResolvedKafkaOptions,
  opened: LogTopics,
): Promise<LogError | null> {
  const now = await findTopics(connection, options, 'once');
  for (const stream of ['trajectories', 'control'] as const) {
    const { topic, topicId } = opened[stream];
    if (now !== null && now[stream].topicId !== topicId) {
      const message = `topic ${topic} has id ${now[stream].topicId}; was ${topicId} when the log was opened: it was deleted and created again`;
      return new LogError('LOG_REPLACED', message);
    }
  }
  return null;
}

async function readOpened(connection: KafkaConnection, reader: PartitionReader): Promise<Opened | null> {
  const { messages } = await connection.retrying('reading the log’s identity', async (cluster) =>
    reader.fetchMessages(await connection.leaderOf(cluster, reader.topic, 0), 0, { maxBytes: 1, waitMs: 0 }),
  );
  const first = messages.at(0);
  if (first === undefined) return null;
  const event = decodeLogOpened(first.value ?? Buffer.alloc(0), `topic ${reader.topic}`);
  return { event, trajectoriesId: String(first.headers[TRAJECTORIES_HEADER]) };
}

async function writeOpened(
  connection: KafkaConnection,
  options: ResolvedKafkaOptions,
  topics: LogTopics,
  reader: PartitionReader,
): Promise<Opened> {
  const { topic } = topics.control;
  const partitions = { trajectories: topics.trajectories.numPartitions, control: 1 };
  const event = newLogOpened({ adapter: 'kafka', createdBy: options.createdBy, partitions });
  const producer = new PartitionProducer({ connection, options, topic, partition: 0, identity: OPENER });
  const headers = { [TRAJECTORIES_HEADER]: topics.trajectories.topicId };
  await producer.send([{ value: Buffer.from(encodeEvent(event)), headers }]);
  const opened = await readOpened(connection, reader);
  if (opened !== null) return opened;
  throw new LogError('LOG_FAILED', `topic ${topic} does not show the record just written`, {
    retriable: true,
  });
}
