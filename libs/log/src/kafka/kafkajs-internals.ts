/**
 * The only file that reaches below the public API of kafkajs 2.2.4: four modules and one patch. The version is pinned, so these are as
 * frozen as it is. Each has its reason here; figures: one broker and its client on two shared cores, Node 20.20
 * (docs/decisions/0006-kafka-client.md).
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { KafkaConfig, Logger } from 'kafkajs';
import type { Message } from './record-batch.js';

const load = createRequire(import.meta.url);

/**
 * Connections and single requests. The public clients are built on it, and give no access to it:
 *
 * - `produce`, `initProducerId`: the public producer retries an idempotent batch without end, keeps its producer id to itself (the one
 *   `LogOpened` of a new log rests on a shared id), and appends 100 B, 1 kB and 4.3 kB records at 0.74, 0.85 and 0.60 of our rate.
 * - `fetch`: the public consumer reads only as a member of a group that assigns partitions, and answers an offset out of range by silently
 *   moving to another one. It reaches a first record as soon (23 ms against 26 ms, without the 3 s by which brokers delay a new group).
 * - `offsetCommit`: the public way, `admin.setOffsets`, joins the group and takes 5,020 ms; this takes 1.2 ms.
 * - `listOffsets`: `admin.fetchTopicOffsets` asks for both ends of all partitions: 1.6 ms for 8 partitions, against 0.4 ms for one end of one.
 * - `offsetFetch`: `admin.fetchOffsets` is as fast (0.8 ms), but needs another connection, with retries that can't be stopped.
 */
export const Cluster = load('kafkajs/src/cluster/index.js') as new (options: ClusterOptions) => Cluster;

/**
 * Writer and reader of Kafka's wire format, for one request: Metadata in version 12, the first to tell topic ids, without which a topic
 * deleted and created again would be taken for the one that the log was opened with. kafkajs speaks version 6.
 */
export const Encoder = load('kafkajs/src/protocol/encoder.js') as new () => Encoder;
export const Decoder = load('kafkajs/src/protocol/decoder.js') as new (bytes: Buffer) => Decoder;

const RequestQueue = load('kafkajs/src/network/requestQueue/index.js') as {
  readonly prototype: RequestQueue;
};

const RECHECK_MS = 10;

/**
 * After every response kafkajs sets a timer to look for requests that wait, and that timer sets itself again: each connection wakes up every
 * millisecond for as long as it lives, and newer versions of Node.js print a TimeoutNegativeWarning. Patched to look only while requests wait.
 *
 * Four idle followers take 3.1 % of a core without the patch and 0.4 % with it; a held role takes 2.4 % and 0.15 %.
 *
 * https://github.com/tulios/kafkajs/issues/1704, https://github.com/tulios/kafkajs/issues/1751
 */
RequestQueue.prototype.scheduleCheckPendingRequests = function (): void {
  if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return;
  const throttledMs = this.throttledUntil - Date.now();
  this.throttleCheckTimeoutId = setTimeout(
    () => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    },
    throttledMs > 0 ? throttledMs : RECHECK_MS,
  );
};

/** Returns a broker with its own connections, none of them open yet. */
export async function newBroker(
  { brokerPool }: Cluster,
  target: BrokerAddress,
  logger: Logger,
): Promise<Broker> {
  const connectionPool = await brokerPool.connectionPoolBuilder.build(target);
  return brokerPool.createBroker({ connectionPool, logger, nodeId: target.nodeId });
}

/** Options of the public client, and those of its cluster. */
interface ClusterOptions extends KafkaConfig {
  readonly logger: Logger;
  readonly metadataMaxAge: number;
  readonly allowAutoTopicCreation: boolean;
  readonly maxInFlightRequests: number | null;
}

interface BrokerAddress {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
  readonly rack?: string;
}

export interface Cluster {
  readonly brokerPool: {
    readonly brokers: Readonly<Record<string, Broker>>;
    readonly seedBroker: Broker | undefined;
    readonly metadata: { readonly brokers: readonly BrokerAddress[] } | null;
    readonly connectionPoolBuilder: { build(target: BrokerAddress): Promise<ConnectionPool> };
    createBroker(options: {
      readonly connectionPool: ConnectionPool;
      readonly logger: Logger;
      readonly nodeId: number;
    }): Broker;
  };
  connect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
  findBroker(options: { nodeId: string | number }): Promise<Broker>;
  findGroupCoordinator(options: { groupId: string }): Promise<Broker>;
}

interface Connection {
  readonly socket?: Socket;
  readonly requestQueue: { destroy(): void };
  connectionStatus: string;
  rejectRequests(error: Error): void;
}

interface ConnectionPool {
  readonly pool: readonly Connection[];
  send<T>(protocol: { readonly request: object; readonly response: object }): Promise<T>;
}

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

interface TopicPartitions<P> {
  readonly topics: readonly { readonly topic: string; readonly partitions: readonly P[] }[];
}

export interface FetchedMessage {
  readonly offset: string;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | Buffer[]>>;
  readonly isControlRecord: boolean;
}

export interface Broker {
  readonly connectionPool: ConnectionPool;
  connect(): Promise<void>;
  initProducerId(options: {
    readonly transactionTimeout: number;
  }): Promise<{ producerId: string; producerEpoch: number }>;
  produce(options: {
    readonly acks: number;
    readonly timeout: number;
    readonly compression: number;
    readonly producerId: string;
    readonly producerEpoch: number;
    readonly topicData: TopicPartitions<{
      readonly partition: number;
      readonly firstSequence: number;
      readonly messages: readonly Message[];
    }>['topics'];
  }): Promise<{ topics: { partitions: { baseOffset: string; logStartOffset: string }[] }[] }>;
  fetch(
    options: TopicPartitions<{ partition: number; fetchOffset: string; maxBytes: number }> & {
      readonly isolationLevel: number;
      readonly maxWaitTime: number;
      readonly minBytes: number;
      readonly maxBytes: number;
    },
  ): Promise<{ responses: { partitions: { highWatermark: string; messages: FetchedMessage[] }[] }[] }>;
  listOffsets(
    options: TopicPartitions<{ partition: number; timestamp: number }> & { readonly isolationLevel: number },
  ): Promise<{ responses: { partitions: { offset: string }[] }[] }>;
  offsetCommit(
    options: TopicPartitions<{ partition: number; offset: string }> & {
      readonly groupId: string;
      readonly groupGenerationId: number;
      readonly memberId: string;
    },
  ): Promise<unknown>;
  offsetFetch(
    options: TopicPartitions<{ partition: number }> & { readonly groupId: string },
  ): Promise<{ responses: { partitions: { offset: string }[] }[] }>;
}

export interface Encoder {
  writeBuffer(value: Buffer): this;
  writeUVarInt(value: number): this;
  writeUVarIntString(value: string): this;
  writeBoolean(value: boolean): this;
}

export interface Decoder {
  readInt16(): number;
  readInt32(): number;
  readBoolean(): boolean;
  readUVarInt(): number;
  readUVarIntString(): string | null;
  readBytes(length: number): Buffer;
  readUVarIntArray<T>(read: (decoder: this) => T): T[];
  readTaggedFields(): unknown;
}
