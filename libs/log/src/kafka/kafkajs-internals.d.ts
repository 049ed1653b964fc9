/**
 * The parts of kafkajs 2.2.4 below its public consumer and producer: connections, metadata, single requests.
 *
 * The public consumer reads only as a member of a group, which needs seconds to join and is given its partitions; a log reader
 * fetches a given partition from a given offset. The public producer can't be stopped once it retries. The package is pinned:
 * these modules are as frozen as it is.
 */
declare module 'kafkajs/src/cluster/index.js' {
  import type Broker from 'kafkajs/src/broker/index.js';
  import type { ConnectionPool } from 'kafkajs/src/broker/index.js';

  interface ClusterOptions {
    readonly logger: unknown;
    readonly socketFactory: (target: {
      readonly host: string;
      readonly port: number;
      readonly ssl: object | null;
      readonly onConnect: () => void;
    }) => import('node:net').Socket;
    readonly brokers: readonly string[];
    readonly ssl: object | undefined;
    readonly sasl: object | undefined;
    readonly clientId: string;
    readonly connectionTimeout: number;
    readonly authenticationTimeout: number;
    readonly reauthenticationThreshold: number;
    readonly requestTimeout: number;
    readonly enforceRequestTimeout: boolean;
    readonly metadataMaxAge: number;
    readonly allowAutoTopicCreation: boolean;
    readonly maxInFlightRequests: number | null;
    readonly retry: { readonly retries: number; readonly initialRetryTime: number };
  }

  export default class Cluster {
    constructor(options: ClusterOptions);
    readonly brokerPool: {
      readonly brokers: Readonly<Record<string, Broker>>;
      readonly seedBroker: Broker | undefined;
      readonly metadata: {
        readonly brokers: readonly { nodeId: number; host: string; port: number; rack?: string }[];
      } | null;
    };
    readonly connectionPoolBuilder: {
      build(target: { host: string; port: number; rack?: string }): Promise<ConnectionPool>;
    };
    connect(): Promise<void>;
    addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
    refreshMetadata(): Promise<void>;
    findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
    findBroker(options: { nodeId: string | number }): Promise<Broker>;
    findGroupCoordinator(options: { groupId: string }): Promise<Broker>;
  }
}

declare module 'kafkajs/src/broker/index.js' {
  interface Connection {
    readonly socket?: import('node:net').Socket;
    readonly requestQueue: { destroy(): void };
    connectionStatus: string;
    rejectRequests(error: Error): void;
  }

  export interface ConnectionPool {
    readonly pool: readonly Connection[];
    send<T>(protocol: { readonly request: object; readonly response: object }): Promise<T>;
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

  export default class Broker {
    constructor(options: {
      readonly connectionPool: ConnectionPool;
      readonly logger: unknown;
      readonly nodeId?: number;
      readonly allowAutoTopicCreation: boolean;
    });
    readonly connectionPool: ConnectionPool;
    connect(): Promise<void>;
    findGroupCoordinator(options: { readonly groupId: string }): Promise<unknown>;
    heartbeat(options: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
    initProducerId(options: {
      readonly transactionTimeout: number;
    }): Promise<{ producerId: string; producerEpoch: number }>;
    produce(options: {
      readonly acks: number;
      readonly timeout: number;
      readonly compression: number;
      readonly producerId: string;
      readonly producerEpoch: number;
      readonly topicData: readonly {
        readonly topic: string;
        readonly partitions: readonly {
          readonly partition: number;
          readonly firstSequence: number;
          readonly messages: readonly {
            readonly value: Buffer;
            readonly headers?: Readonly<Record<string, string>>;
          }[];
        }[];
      }[];
    }): Promise<{
      topics: { partitions: { baseOffset: string; logStartOffset: string }[] }[];
    }>;
    fetch(
      options: TopicPartitions<{ partition: number; fetchOffset: string; maxBytes: number }> & {
        readonly isolationLevel: number;
        readonly maxWaitTime: number;
        readonly minBytes: number;
        readonly maxBytes: number;
      },
    ): Promise<{
      responses: { partitions: { highWatermark: string; messages: FetchedMessage[] }[] }[];
    }>;
    listOffsets(
      options: TopicPartitions<{ partition: number; timestamp: number }> & {
        readonly isolationLevel: number;
      },
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
    createTopics(options: {
      readonly timeout: number;
      readonly topics: readonly {
        readonly topic: string;
        readonly numPartitions: number;
        readonly replicationFactor: number;
        readonly configEntries: readonly { readonly name: string; readonly value: string }[];
      }[];
    }): Promise<unknown>;
    describeConfigs(options: {
      readonly resources: readonly { readonly type: number; readonly name: string }[];
    }): Promise<{
      resources: { resourceName: string; configEntries: { configName: string; configValue: string }[] }[];
    }>;
  }
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    readonly throttledUntil: number;
    throttleCheckTimeoutId: NodeJS.Timeout | null;
    checkPendingRequests(): void;
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/loggers/index.js' {
  const loggers: {
    readonly createLogger: (options: {
      readonly level: number;
      readonly logCreator: () => () => void;
    }) => unknown;
  };
  export default loggers;
}

declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    writeInt8(value: number): this;
    writeBuffer(value: Buffer): this;
    writeUVarInt(value: number): this;
    writeUVarIntString(value: string): this;
    writeBoolean(value: boolean): this;
  }
}

declare module 'kafkajs/src/protocol/decoder.js' {
  export default class Decoder {
    constructor(buffer: Buffer);
    readInt8(): number;
    readInt16(): number;
    readInt32(): number;
    readBoolean(): boolean;
    readUVarInt(): number;
    readUVarIntString(): string | null;
    readBytes(length: number): Buffer;
    readUVarIntArray<T>(read: (decoder: this) => T): T[];
    readTaggedFields(): unknown;
  }
}
