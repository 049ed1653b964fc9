import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import kafkajs, { type Admin, type ISocketFactoryArgs, type KafkaConfig, type Logger } from 'kafkajs';
import { LogError } from '../log-error.js';
import { isConnectionError, isRetriable, NotReadyError, StalledError, toLogError } from './kafka-errors.js';
import { CLIENT_ID, type ResolvedKafkaOptions } from './kafka-options.js';
import { Cluster, newBroker, type Broker } from './kafkajs-internals.js';

const MIN_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;
const KEEP_ALIVE_MS = 60_000;

const { Kafka, logLevel } = kafkajs;

/** One attempt on a connected cluster; throws the errors of kafkajs. */
type Attempt<T> = (cluster: Cluster) => Promise<T>;

/**
 * The connections of one handle to the cluster, and the only place that retries: kafkajs gets a single attempt at everything, under a time
 * limit of ours, because its own retries can neither be stopped nor bounded.
 */
export class KafkaConnection {
  readonly where: string;
  /** Set when nothing on this handle can succeed any more; every later attempt rejects with it. */
  fatal: LogError | null = null;
  /** Called during a recovery. It may set `fatal`; it must not retry, because a retry waits for the recovery to end. */
  onReconnected: () => Promise<void> = () => Promise.resolve();
  private readonly logger: Logger;
  private readonly closingController = new AbortController();
  private topics: readonly string[] = [];
  private cluster: Promise<Cluster> | null = null;
  private recovering: Promise<void> | null = null;
  private numConnects = 0;

  constructor(private readonly options: ResolvedKafkaOptions) {
    this.where = options.brokers.join(',');
    this.logger = new Kafka({ brokers: [...options.brokers], logLevel: logLevel.NOTHING }).logger();
  }

  /** Aborted by `close`. */
  get closing(): AbortSignal {
    return this.closingController.signal;
  }

  /** Sets the topics, which must exist, whose metadata is kept. @throws LogError */
  async watchTopics(topics: readonly string[]): Promise<void> {
    this.topics = topics;
    await this.retrying('looking up topics', (cluster) => cluster.addMultipleTargetTopics(topics));
  }

  /**
   * Tries until an attempt succeeds, an error is permanent, or `requestDeadlineMs` is over.
   *
   * @throws LogError
   */
  async retrying<T>(what: string, attempt: Attempt<T>): Promise<T> {
    const giveUpAt = performance.now() + this.options.requestDeadlineMs;
    for (let backoffMs = MIN_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)) {
      try {
        return await this.once(what, attempt);
      } catch (error) {
        if (!isRetriable(error) || performance.now() + backoffMs > giveUpAt) {
          throw toLogError(what, this.where, error);
        }
        await this.recover(error, backoffMs);
      }
    }
  }

  /** Makes one attempt under the time limit of a request. @throws the errors of kafkajs; StalledError; LogError `LOG_CLOSED` or `fatal` */
  async once<T>(what: string, attempt: Attempt<T>): Promise<T> {
    if (this.fatal !== null) throw this.fatal;
    if (this.closing.aborted)
      throw new LogError('LOG_CLOSED', `the event log on Kafka at ${this.where} is closed`);
    const connected = this.connected();
    return this.within(
      what,
      connected.then((cluster) => attempt(cluster)),
    );
  }

  /** Settles like `promise`. @throws StalledError after `timeoutMs`, by default the time that a request may take */
  async within<T>(what: string, promise: Promise<T>, timeoutMs = this.options.stallTimeoutMs): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const stalled = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new StalledError(what, timeoutMs));
      }, timeoutMs);
    });
    try {
      return await Promise.race([promise, stalled]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Renews the metadata after a failed attempt, or the connections if that fails too, and waits. Never rejects. */
  async recover(error: unknown, backoffMs: number): Promise<void> {
    this.recovering ??= this.reconnect(error).finally(() => {
      this.recovering = null;
    });
    await this.recovering;
    await sleep(backoffMs, undefined, { signal: this.closing }).catch(() => undefined);
  }

  private async reconnect(error: unknown): Promise<void> {
    if (this.closing.aborted) return;
    try {
      if (error instanceof StalledError) throw error;
      const cluster = await this.within('connecting', this.connected());
      await this.within('renewing metadata', cluster.refreshMetadata());
      if (isConnectionError(error)) await this.onReconnected();
    } catch {
      this.dropCluster();
    }
  }

  /** The broker that leads a partition. */
  async leaderOf(cluster: Cluster, topic: string, partition: number): Promise<Broker> {
    return cluster.findBroker({ nodeId: leaderId(cluster, topic, partition) });
  }

  /** Opens another connection to the leader, for requests that wait there: a broker answers the requests of a connection one by one. */
  async openLeader(cluster: Cluster, topic: string, partition: number): Promise<Broker> {
    const leader = leaderId(cluster, topic, partition);
    const target = cluster.brokerPool.metadata?.brokers.find(({ nodeId }) => String(nodeId) === leader);
    if (target === undefined) throw new NotReadyError(`broker ${leader} is unknown`);
    const broker = await newBroker(cluster, target, this.logger);
    try {
      await broker.connect();
    } catch (error) {
      destroyBroker(broker);
      throw error;
    }
    return broker;
  }

  /**
   * Like `retrying`, for tasks of kafkajs's public admin client, which connects for each attempt.
   *
   * @throws LogError
   */
  async administering<T>(what: string, task: (admin: Admin) => Promise<T>): Promise<T> {
    return this.retrying(what, async () => {
      const admin = new Kafka(this.settings()).admin();
      try {
        await admin.connect();
        return await task(admin);
      } finally {
        // Not awaited: it waits for answers that may never come.
        void admin.disconnect().catch(() => undefined);
      }
    });
  }

  close(): void {
    this.closingController.abort();
    this.dropCluster();
  }

  private connected(): Promise<Cluster> {
    if (this.cluster !== null) return this.cluster;
    const connecting = this.connect();
    this.cluster = connecting;
    connecting.catch(() => {
      // A connection that was given up as stalled must not remove its successor.
      if (this.cluster === connecting) this.cluster = null;
    });
    return connecting;
  }

  private async connect(): Promise<Cluster> {
    const cluster = new Cluster({
      ...this.settings(),
      logger: this.logger,
      metadataMaxAge: 300_000,
      allowAutoTopicCreation: false,
      maxInFlightRequests: null,
    });
    try {
      await cluster.connect();
      if (this.topics.length > 0) await cluster.addMultipleTargetTopics(this.topics);
      return cluster;
    } catch (error) {
      destroyCluster(cluster);
      throw error;
    }
  }

  private settings(): KafkaConfig {
    const { brokers, sasl, tls, stallTimeoutMs } = this.options;
    // kafkajs begins with the first broker. As it gets one try only, that must be another broker each time.
    const first = this.numConnects++ % brokers.length;
    return {
      brokers: [...brokers.slice(first), ...brokers.slice(0, first)],
      clientId: CLIENT_ID,
      sasl: sasl as KafkaConfig['sasl'],
      ssl: tls,
      socketFactory: openSocket,
      connectionTimeout: Math.min(stallTimeoutMs, 5_000),
      authenticationTimeout: stallTimeoutMs,
      reauthenticationThreshold: 10_000,
      // The last resort behind the time limits of this class, which act first and give the connection up.
      requestTimeout: 10 * stallTimeoutMs,
      enforceRequestTimeout: true,
      retry: { retries: 0, initialRetryTime: MIN_BACKOFF_MS },
      logLevel: logLevel.NOTHING,
    };
  }

  private dropCluster(): void {
    const dropped = this.cluster;
    this.cluster = null;
    dropped?.then(destroyCluster, () => undefined);
  }
}

/** Ends a broker's connections at once; kafkajs would wait for answers that may never come. */
export function destroyBroker({ connectionPool }: Broker): void {
  for (const connection of connectionPool.pool) {
    connection.rejectRequests(new NotReadyError('the connection was given up'));
    connection.requestQueue.destroy();
    connection.connectionStatus = 'disconnected';
    connection.socket?.destroy();
  }
}

function destroyCluster({ brokerPool }: Cluster): void {
  for (const broker of Object.values(brokerPool.brokers)) destroyBroker(broker);
  if (brokerPool.seedBroker !== undefined) destroyBroker(brokerPool.seedBroker);
}

function leaderId(cluster: Cluster, topic: string, partition: number): string {
  const leader = Object.keys(cluster.findLeaderForPartitions(topic, [partition])).at(0);
  if (leader === undefined || leader === '-1') {
    throw new NotReadyError(`partition ${partition} of topic ${topic} has no leader now`);
  }
  return leader;
}

/** Opens a socket as kafkajs does, but without Nagle's delay. */
function openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
  const socket =
    (ssl as object | null) === null
      ? connectTcp({ host, port }, onConnect)
      : connectTls({ host, port, servername: /^[\d.]+$|:/.test(host) ? undefined : host, ...ssl }, onConnect);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  socket.setNoDelay(true);
  return socket;
}
