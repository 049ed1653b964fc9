import type { Broker } from './kafkajs-internals.js';
import { LogError } from '../log-error.js';
import type { LogRecord } from '../event-log.js';
import { orAborted } from '../or-aborted.js';
import { destroyBroker, type KafkaConnection } from './kafka-connection.js';
import { isRetriable, toLogError, errorType } from './kafka-errors.js';
import type { ResolvedKafkaOptions } from './kafka-options.js';
import type { Fetched, PartitionReader } from './partition-reader.js';

const MIN_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;

interface FollowParts {
  readonly connection: KafkaConnection;
  readonly options: ResolvedKafkaOptions;
  readonly reader: PartitionReader;
  readonly fromOffset: number;
  readonly maxBytes: number;
  /** Ends the iteration without an error. */
  readonly signal: AbortSignal;
}

/**
 * Yields the records of a partition from an offset on, as they arrive, never an empty batch. It has its own connection to the leader, on
 * which fetches wait at the broker. It waits until an outage is over, however long: the caller could only start again at the same
 * offset. A fetch without an answer in time is given up, with its connection.
 *
 * @throws LogError `LOG_RECORDS_MISSING`; any code that no retry mends
 */
export async function* followPartition(
  parts: FollowParts,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const { connection, reader, signal } = parts;
  const fetcher = new Fetcher(parts);
  let nextOffset = parts.fromOffset;
  let backoffMs = MIN_BACKOFF_MS;
  try {
    while (!signal.aborted) {
      try {
        const fetched = await fetcher.fetch(nextOffset);
        if (fetched === null) return;
        backoffMs = MIN_BACKOFF_MS;
        nextOffset = fetched.nextOffset;
        if (fetched.records.length > 0) yield fetched.records;
      } catch (error) {
        fetcher.disconnect();
        if (errorType(error) === 'OFFSET_OUT_OF_RANGE') {
          const missing = await reader.explainOutOfRange(nextOffset, false);
          if (missing !== null) throw missing;
        } else if (connection.fatal !== null || !isRetriable(error)) {
          throw toLogError('follow', connection.where, connection.fatal ?? error);
        }
        await connection.recover(error, backoffMs);
        backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS);
      }
    }
  } finally {
    fetcher.disconnect();
  }
}

class Fetcher {
  private broker: Broker | null = null;
  private numDisconnects = 0;

  constructor(private readonly parts: FollowParts) {}

  /** Null when the signal aborts first. */
  async fetch(fromOffset: number): Promise<Fetched | null> {
    const { connection, options, signal } = this.parts;
    const timeoutMs = options.fetchWaitMs + options.stallTimeoutMs;
    return orAborted(connection.within('fetch', this.fetchNext(fromOffset), timeoutMs), signal);
  }

  disconnect(): void {
    if (this.broker !== null) destroyBroker(this.broker);
    this.broker = null;
    this.numDisconnects += 1;
  }

  private async fetchNext(fromOffset: number): Promise<Fetched> {
    const { connection, options, reader, maxBytes } = this.parts;
    const broker = (this.broker ??= await this.connect());
    if (connection.fatal !== null) throw connection.fatal;
    return reader.fetch(broker, fromOffset, { maxBytes, waitMs: options.fetchWaitMs });
  }

  private async connect(): Promise<Broker> {
    const { connection, reader, signal } = this.parts;
    const numDisconnects = this.numDisconnects;
    return connection.once('connecting', async (cluster) => {
      const broker = await connection.openLeader(cluster, reader.topic, reader.partition);
      if (!signal.aborted && this.numDisconnects === numDisconnects) return broker;
      // Connecting took so long that the caller has stopped waiting.
      destroyBroker(broker);
      throw new LogError('LOG_CLOSED', 'the follower has ended, or begun again on another connection');
    });
  }
}
