import { setTimeout as sleep } from 'node:timers/promises';
import { LogError } from '../log-error.js';
import { COMPRESSION_TYPES } from './compression.js';
import type { KafkaConnection } from './kafka-connection.js';
import { isLostProducer, isRefusal, isRetriable, toLogError } from './kafka-errors.js';
import type { ResolvedKafkaOptions } from './kafka-options.js';
import type { Message } from './record-batch.js';

const ALL_REPLICAS = -1;
const TRANSACTION_TIMEOUT_MS = 60_000;
const MIN_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;

/** Kafka counts a producer's messages in 31 bits; kafkajs wraps to 0 one message too early, which brokers refuse. */
const MAX_SEQUENCE = 2 ** 31 - 1;

interface Identity {
  readonly producerId: string;
  readonly producerEpoch: number;
}

interface PartitionProducerParts {
  readonly connection: KafkaConnection;
  readonly options: ResolvedKafkaOptions;
  readonly topic: string;
  readonly partition: number;
  /** Producer id of the messages; by default the cluster gives a new one. */
  readonly identity?: Identity;
}

/**
 * Sends batches to one partition, one at a time, each as one request with one record batch, which a broker takes as a whole or not at
 * all. Idempotent: a producer id and a count of messages stay the same through retries, so the broker recognizes a batch that it already
 * has. A batch fails at the deadline `deliveryTimeoutMs`; the next one is sent under a new id.
 */
export class PartitionProducer {
  private identity: Identity | null;
  private nextSequence = 0;
  /** Lowest offset that the next batch can have, as far as this producer knows. */
  private leastOffset = 0;

  constructor(private readonly parts: PartitionProducerParts) {
    this.identity = parts.identity ?? null;
  }

  /**
   * Resolves with the offset of the first message once all in-sync replicas have the batch. Calls must not overlap.
   *
   * @throws LogError; after `LOG_UNREACHABLE` or `LOG_FAILED` the batch may have landed or may still land
   */
  async send(messages: readonly Message[]): Promise<number> {
    const { connection, options } = this.parts;
    const giveUpAt = performance.now() + options.deliveryTimeoutMs;
    let mayHaveLanded = false;
    for (let backoffMs = MIN_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)) {
      try {
        const firstOffset = await this.attempt(messages);
        this.nextSequence += messages.length;
        this.requireAhead(firstOffset);
        this.leastOffset = firstOffset + messages.length;
        return firstOffset;
      } catch (error) {
        mayHaveLanded ||= !isRefusal(error) && !isLostProducer(error);
        const lostProducer = isLostProducer(error);
        if (lostProducer) this.recycle();
        const mayRetry = lostProducer ? !mayHaveLanded : isRetriable(error);
        if (!mayRetry || performance.now() + backoffMs > giveUpAt) {
          if (mayHaveLanded) this.recycle();
          throw this.failure(error, mayHaveLanded);
        }
        if (lostProducer)
          await sleep(backoffMs, undefined, { signal: connection.closing }).catch(() => undefined);
        else await connection.recover(error, backoffMs);
      }
    }
  }

  private attempt(messages: readonly Message[]): Promise<number> {
    const { connection, options, topic, partition } = this.parts;
    return connection.once('append', async (cluster) => {
      if (this.nextSequence + messages.length > MAX_SEQUENCE) this.recycle();
      this.identity ??= await this.newIdentity();
      const broker = await connection.leaderOf(cluster, topic, partition);
      const { topics } = await broker.produce({
        acks: ALL_REPLICAS,
        timeout: options.stallTimeoutMs,
        compression: COMPRESSION_TYPES[options.compression],
        ...this.identity,
        topicData: [{ topic, partitions: [{ partition, firstSequence: this.nextSequence, messages }] }],
      });
      return Number(topics[0].partitions[0].baseOffset);
    });
  }

  private newIdentity(): Promise<Identity> {
    return this.parts.connection.once('getting a producer id', async (cluster) => {
      const { topic, partition } = this.parts;
      const broker = await this.parts.connection.leaderOf(cluster, topic, partition);
      const { producerId, producerEpoch } = await broker.initProducerId({
        transactionTimeout: TRANSACTION_TIMEOUT_MS,
      });
      return { producerId, producerEpoch };
    });
  }

  private recycle(): void {
    this.identity = null;
    this.nextSequence = 0;
  }

  /** Checks that offsets grow: they don't if the topic was deleted and created again or lost its end. @throws LogError `LOG_REPLACED` */
  private requireAhead(firstOffset: number): void {
    if (firstOffset >= this.leastOffset) return;
    const { connection, topic, partition } = this.parts;
    connection.fatal = new LogError(
      'LOG_REPLACED',
      `partition ${partition} of topic ${topic} gave offset ${firstOffset}; must be at least ${this.leastOffset}: ` +
        'the topic was deleted and created again, or lost acknowledged records',
    );
    throw connection.fatal;
  }

  private failure(error: unknown, mayHaveLanded: boolean): Error {
    const { connection, options } = this.parts;
    const failure = toLogError('append', connection.where, error);
    if (!mayHaveLanded || !failure.retriable) return failure;
    const unknown = `tried for ${options.deliveryTimeoutMs} ms; whether it landed is unknown`;
    const code = failure.code === 'LOG_UNREACHABLE' ? 'LOG_UNREACHABLE' : 'LOG_FAILED';
    return new LogError(code, `${failure.message}; ${unknown}`, { retriable: true, cause: error });
  }
}
