import { unframe } from '@retrace/trajectory/codec';
import { LogError } from '../log-error.js';
import type { LogRecord } from '../event-log.js';
import type { Broker, FetchedMessage } from './kafkajs-internals.js';
import type { KafkaConnection } from './kafka-connection.js';
import { errorType } from './kafka-errors.js';
import { decodePointer, joinFragments, ROLE_HEADER, type Pointer } from './record-batch.js';

const READ_UNCOMMITTED = 0;
const EARLIEST = -2;
const LATEST = -1;

/** Least size of a fetch: a smaller one isn't worth a request. */
const MIN_FETCH_BYTES = 64 * 1024;
const MAX_FETCH_BYTES = 32 * 1024 * 1024;

export interface Fetched {
  readonly records: readonly LogRecord[];
  /** Offset of the next fetch, after everything in this one. */
  readonly nextOffset: number;
  /** End of the partition at the time of the fetch. */
  readonly endOffset: number;
}

interface FetchOptions {
  readonly maxBytes: number;
  /** How long the broker may wait for records. */
  readonly waitMs: number;
}

/** Fetches records of one partition from given offsets, and checks that none is missing. */
export class PartitionReader {
  constructor(
    private readonly connection: KafkaConnection,
    readonly topic: string,
    readonly partition: number,
  ) {}

  async endOffset(): Promise<number> {
    return this.edge(LATEST);
  }

  async startOffset(): Promise<number> {
    return this.edge(EARLIEST);
  }

  /**
   * One fetch through `broker`, which must lead the partition.
   *
   * @throws what kafkajs throws; LogError `LOG_RECORDS_MISSING`
   */
  async fetch(broker: Broker, fromOffset: number, options: FetchOptions): Promise<Fetched> {
    const { messages, endOffset } = await this.fetchIntact(broker, fromOffset, options);
    this.requireNoGap(messages, fromOffset);
    const records: LogRecord[] = [];
    for (const message of messages) {
      const role = readRole(message);
      if (message.isControlRecord || role === 'fragment') continue;
      const value = message.value ?? Buffer.alloc(0);
      const bytes = role === 'pointer' ? await this.resolve(broker, value) : value;
      records.push({ offset: Number(message.offset), bytes });
    }
    const last = messages.at(-1);
    return { records, nextOffset: last === undefined ? fromOffset : Number(last.offset) + 1, endOffset };
  }

  /**
   * Explains an answer `OFFSET_OUT_OF_RANGE`: the error to fail with, or null when the offset has no record yet.
   *
   * @param mayBeAhead whether an offset beyond the end is no sign of a loss
   */
  async explainOutOfRange(fromOffset: number, mayBeAhead: boolean): Promise<LogError | null> {
    const [startOffset, endOffset] = [await this.startOffset(), await this.endOffset()];
    if (fromOffset >= endOffset && mayBeAhead) return null;
    if (fromOffset >= startOffset && fromOffset <= endOffset) return null;
    const range = `the partition holds ${startOffset} to ${endOffset - 1}`;
    const reason =
      fromOffset < startOffset
        ? 'retention or a deletion removed the records before that'
        : 'it lost its end, or was deleted and created again';
    return this.missing(`offset ${fromOffset} was asked for, ${range}: ${reason}`);
  }

  /** Fetches again if a record is damaged: it may be so in transit only. The second answer counts, damaged or not. */
  private async fetchIntact(
    broker: Broker,
    fromOffset: number,
    options: FetchOptions,
  ): Promise<{ readonly messages: readonly FetchedMessage[]; readonly endOffset: number }> {
    const first = await this.fetchMessages(broker, fromOffset, options);
    if (!first.messages.some(isDamaged)) return first;
    return this.fetchMessages(broker, fromOffset, options);
  }

  /** Fetches the messages as Kafka stores them, from an offset on. */
  async fetchMessages(
    broker: Broker,
    fromOffset: number,
    { maxBytes, waitMs }: FetchOptions,
  ): Promise<{ readonly messages: readonly FetchedMessage[]; readonly endOffset: number }> {
    const numBytes = Math.min(Math.max(maxBytes, MIN_FETCH_BYTES), MAX_FETCH_BYTES);
    const { topic, partition } = this;
    const { responses } = await broker.fetch({
      isolationLevel: READ_UNCOMMITTED,
      maxWaitTime: waitMs,
      minBytes: 1,
      maxBytes: numBytes,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(fromOffset), maxBytes: numBytes }] }],
    });
    const { highWatermark, messages } = responses[0].partitions[0];
    // A batch that begins before the offset is sent as a whole.
    const first = messages.findIndex(({ offset }) => Number(offset) >= fromOffset);
    return { messages: first < 0 ? [] : messages.slice(first), endOffset: Number(highWatermark) };
  }

  /** Topics of ours are never compacted, so offsets have no gaps. */
  private requireNoGap(messages: readonly FetchedMessage[], fromOffset: number): void {
    let expected = fromOffset;
    for (const { offset } of messages) {
      if (Number(offset) !== expected) {
        throw this.missing(`after offset ${expected - 1} comes ${offset}; must be ${expected}`);
      }
      expected += 1;
    }
  }

  /** Resolves a pointer to its record; to the pointer itself, a dead letter for every reader, if its fragments are gone. */
  private async resolve(broker: Broker, value: Buffer): Promise<Buffer> {
    const pointer = decodePointer(value);
    if (pointer === null) return value;
    const fragments = await this.fetchFragments(broker, pointer);
    return (fragments && joinFragments(pointer, fragments)) ?? value;
  }

  private async fetchFragments(broker: Broker, { offsets, sizeBytes }: Pointer): Promise<Buffer[] | null> {
    const found = new Map<number, Buffer>();
    for (const offset of offsets) {
      if (found.has(offset)) continue;
      const { messages } = await this.fetchMessages(broker, offset, {
        maxBytes: sizeBytes,
        waitMs: 0,
      }).catch((error: unknown) => {
        if (errorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
        return { messages: [] };
      });
      for (const message of messages) {
        if (readRole(message) === 'fragment' && message.value !== null) {
          found.set(Number(message.offset), message.value);
        }
      }
      if (!found.has(offset)) return null;
    }
    return offsets.map((offset) => found.get(offset) ?? Buffer.alloc(0));
  }

  private async edge(timestamp: number): Promise<number> {
    const { connection, topic, partition } = this;
    return connection.retrying('reading offsets', async (cluster) => {
      const broker = await connection.leaderOf(cluster, topic, partition);
      const { responses } = await broker.listOffsets({
        isolationLevel: READ_UNCOMMITTED,
        topics: [{ topic, partitions: [{ partition, timestamp }] }],
      });
      return Number(responses[0].partitions[0].offset);
    });
  }

  private missing(what: string): LogError {
    return new LogError(
      'LOG_RECORDS_MISSING',
      `records are missing in partition ${this.partition} of topic ${this.topic}: ${what}`,
    );
  }
}

function readRole({ headers }: FetchedMessage): string {
  const role = headers[ROLE_HEADER] as Buffer | Buffer[] | undefined;
  return role instanceof Buffer ? role.toString() : '';
}

function isDamaged(message: FetchedMessage): boolean {
  if (message.value === null || readRole(message) !== '') return false;
  const unframed = unframe(message.value);
  return !unframed.ok && unframed.code === 'CHECKSUM_MISMATCH';
}
