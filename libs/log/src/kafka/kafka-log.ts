import { setTimeout as sleep } from 'node:timers/promises';
import { LogError } from '../log-error.js';
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_RECORDS,
  MAX_RECORD_BYTES,
  requireOffset,
  requirePartition,
  requireRecords,
} from '../log-arguments.js';
import type {
  EventLog,
  FollowOptions,
  GroupCursor,
  LogRecord,
  PartitionRecords,
  ReadOptions,
} from '../event-log.js';
import type { Stream } from '@retrace/trajectory';
import { followPartition } from './follow-partition.js';
import { GroupCursors } from './group-cursors.js';
import type { KafkaConnection } from './kafka-connection.js';
import { errorType } from './kafka-errors.js';
import type { ResolvedKafkaOptions } from './kafka-options.js';
import { topicNames } from './log-topics.js';
import { PartitionProducer } from './partition-producer.js';
import { PartitionReader, type Fetched } from './partition-reader.js';
import { PartitionWriter } from './partition-writer.js';

const CURSOR_POLL_MS = 50;

interface KafkaLogParts {
  readonly connection: KafkaConnection;
  readonly options: ResolvedKafkaOptions;
  readonly logId: string;
  readonly numTrajectoryPartitions: number;
}

interface Partition {
  readonly topic: string;
  readonly reader: PartitionReader;
  readonly writer: PartitionWriter;
}

/** The event log in two topics of a Kafka cluster; see `openKafkaLog`. */
export class KafkaLog implements EventLog {
  readonly logId: string;
  readonly maxRecordBytes = MAX_RECORD_BYTES;
  readonly maxEventBytes: number;
  private readonly connection: KafkaConnection;
  private readonly options: ResolvedKafkaOptions;
  private readonly cursors: GroupCursors;
  private readonly partitions: Readonly<Record<Stream, readonly Partition[]>>;
  private readonly closing = new AbortController();
  private closed: Promise<void> | null = null;

  constructor({ connection, options, logId, numTrajectoryPartitions }: KafkaLogParts) {
    this.logId = logId;
    this.maxEventBytes = options.maxEventBytes;
    this.connection = connection;
    this.options = options;
    this.cursors = new GroupCursors(connection, options.prefix);
    const names = topicNames(options);
    const partitionsOf = (stream: Stream, count: number): readonly Partition[] =>
      Array.from({ length: count }, (_, partition) => {
        const topic = names[stream];
        const producer = new PartitionProducer({ connection, options, topic, partition });
        return {
          topic,
          reader: new PartitionReader(connection, topic, partition),
          writer: new PartitionWriter(producer, options.maxBatchBytes),
        };
      });
    this.partitions = {
      trajectories: partitionsOf('trajectories', numTrajectoryPartitions),
      control: partitionsOf('control', 1),
    };
  }

  numPartitions(stream: Stream): number {
    return this.partitions[stream].length;
  }

  async append(
    stream: Stream,
    partition: number,
    records: readonly Uint8Array[],
  ): Promise<{ readonly firstOffset: number }> {
    const { writer } = this.partition(stream, partition);
    requireRecords(records);
    return { firstOffset: await writer.submit(records) };
  }

  /** One request to each leader a stage; cursors are committed beside the stages. */
  async appendInStages(
    stages: readonly (readonly PartitionRecords[])[],
    cursors: readonly GroupCursor[] = [],
  ): Promise<void> {
    const committed = Promise.all(
      cursors.map(({ group, stream, partition, nextOffset }) =>
        this.commitCursor(group, stream, partition, nextOffset),
      ),
    );
    committed.catch(() => undefined);
    for (const stage of stages)
      await Promise.all(
        stage.map(({ stream, partition, records }) => this.append(stream, partition, records)),
      );
    if (stages.length === 0) await committed;
  }

  async read(
    stream: Stream,
    partition: number,
    fromOffset: number,
    options: ReadOptions = {},
  ): Promise<LogRecord[]> {
    const { reader } = this.partition(stream, partition);
    requireOffset('fromOffset', fromOffset, Number.MAX_SAFE_INTEGER);
    const { maxRecords = DEFAULT_MAX_RECORDS, maxBytes = DEFAULT_MAX_BYTES } = options;
    for (let nextOffset = fromOffset; ;) {
      const fetched = await this.fetch(reader, nextOffset, maxBytes);
      if (fetched === null) return [];
      const [first = []] = slices(fetched.records, maxRecords, maxBytes);
      // The fetched messages may have been fragments only.
      if (first.length > 0 || fetched.nextOffset >= fetched.endOffset) return first;
      nextOffset = fetched.nextOffset;
    }
  }

  async endOffset(stream: Stream, partition: number): Promise<number> {
    return this.partition(stream, partition).reader.endOffset();
  }

  async startOffset(stream: Stream, partition: number): Promise<number> {
    return this.partition(stream, partition).reader.startOffset();
  }

  async *follow(
    stream: Stream,
    partition: number,
    fromOffset: number,
    options: FollowOptions = {},
  ): AsyncGenerator<LogRecord[], void, undefined> {
    const { reader } = this.partition(stream, partition);
    requireOffset('fromOffset', fromOffset, Number.MAX_SAFE_INTEGER);
    const { maxRecords = DEFAULT_MAX_RECORDS, maxBytes = DEFAULT_MAX_BYTES } = options;
    const signals = [this.closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const signal = AbortSignal.any(signals);
    const fetched = followPartition({
      connection: this.connection,
      options: this.options,
      reader,
      fromOffset,
      maxBytes,
      signal,
    });
    for await (const records of fetched) {
      for (const slice of slices(records, maxRecords, maxBytes)) {
        if (signal.aborted) return;
        yield slice;
      }
    }
  }

  async readCursor(group: string, stream: Stream, partition: number): Promise<number | null> {
    const { topic } = this.partition(stream, partition);
    return this.cursors.read(group, topic, partition);
  }

  async commitCursor(group: string, stream: Stream, partition: number, nextOffset: number): Promise<void> {
    const { topic } = this.partition(stream, partition);
    requireOffset('nextOffset', nextOffset, Number.MAX_SAFE_INTEGER);
    return this.cursors.commit(group, topic, partition, nextOffset);
  }

  /** Asks the group coordinator every 50 ms, because Kafka does not notify anybody of a commit. */
  async cursorReached(
    group: string,
    stream: Stream,
    partition: number,
    nextOffset: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    requireOffset('nextOffset', nextOffset, Number.MAX_SAFE_INTEGER);
    for (;;) {
      if (signal?.aborted) return false;
      const cursor = await this.readCursor(group, stream, partition);
      if (cursor !== null && cursor >= nextOffset) return true;
      await sleep(CURSOR_POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  close(): Promise<void> {
    this.closed ??= this.drainAndClose();
    return this.closed;
  }

  private async drainAndClose(): Promise<void> {
    this.closing.abort();
    const partitions = [...this.partitions.trajectories, ...this.partitions.control];
    await Promise.all(partitions.map(({ writer }) => writer.drain()));
    this.connection.close();
  }

  /** Null when the offset has no record yet. */
  private async fetch(
    reader: PartitionReader,
    fromOffset: number,
    maxBytes: number,
  ): Promise<Fetched | null> {
    const connection = this.connection;
    return connection.retrying('read', async (cluster) => {
      const broker = await connection.leaderOf(cluster, reader.topic, reader.partition);
      try {
        return await reader.fetch(broker, fromOffset, { maxBytes, waitMs: 0 });
      } catch (error) {
        if (errorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
        const missing = await reader.explainOutOfRange(fromOffset, true);
        if (missing !== null) throw missing;
        return null;
      }
    });
  }

  private partition(stream: Stream, partition: number): Partition {
    if (this.closed !== null) {
      throw new LogError('LOG_CLOSED', `the event log on Kafka at ${this.connection.where} is closed`);
    }
    return requirePartition(this.partitions, stream, partition);
  }
}

/** Splits `records` into runs of at most `maxRecords`, each of which ends with the record that reaches `maxBytes`. */
function* slices(
  records: readonly LogRecord[],
  maxRecords: number,
  maxBytes: number,
): Generator<LogRecord[], void, undefined> {
  let slice: LogRecord[] = [];
  let numBytes = 0;
  for (const record of records) {
    slice.push(record);
    numBytes += record.bytes.length;
    if (slice.length < maxRecords && numBytes < maxBytes) continue;
    yield slice;
    slice = [];
    numBytes = 0;
  }
  if (slice.length > 0) yield slice;
}
