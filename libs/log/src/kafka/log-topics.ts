import kafkajs from 'kafkajs';
import { LogError } from '../log-error.js';
import type { Stream } from '@retrace/trajectory';
import type { KafkaConnection } from './kafka-connection.js';
import { NotReadyError } from './kafka-errors.js';
import type { ResolvedKafkaOptions } from './kafka-options.js';
import type { Broker, Cluster } from './kafkajs-internals.js';
import { BATCH_OVERHEAD_BYTES } from './record-batch.js';
import { describeTopics, type DescribedTopic } from './topic-description.js';

const { ConfigResourceTypes } = kafkajs;

const DEFAULT_TRAJECTORY_PARTITIONS = 8;
const PREFERRED_REPLICAS = 3;
const TIMEOUT_MS = 10_000;

export const STREAMS: readonly Stream[] = ['trajectories', 'control'];

export type LogTopics = Readonly<Record<Stream, DescribedTopic>>;

export function topicNames({ prefix }: ResolvedKafkaOptions): Readonly<Record<Stream, string>> {
  return { trajectories: `${prefix}trajectories`, control: `${prefix}control` };
}

/**
 * Finds the two topics of the log, creates them if neither exists, and checks each setting.
 *
 * @throws LogError `LOG_INCOMPATIBLE` naming topic, setting, value and rule; `LOG_REPLACED` when only one of them exists
 */
export async function openTopics(
  connection: KafkaConnection,
  options: ResolvedKafkaOptions,
): Promise<LogTopics> {
  const found = await inspectTopics(connection, options);
  if (found !== null) return found;
  await createTopics(connection, options);
  const made = await inspectTopics(connection, options);
  if (made === null) throw new LogError('LOG_REPLACED', 'the topics were deleted while the log was opened');
  return made;
}

/**
 * Finds the two topics and checks each setting; null when neither exists yet. Creates nothing.
 *
 * @throws as `openTopics`
 */
export async function inspectTopics(
  connection: KafkaConnection,
  options: ResolvedKafkaOptions,
): Promise<LogTopics | null> {
  const topics = await findTopics(connection, options);
  if (topics === null) return null;
  const settings = await readSettings(connection, options);
  for (const stream of STREAMS) checkTopic(stream, topics[stream], settings[stream], options);
  return topics;
}

/** Finds both topics, in one attempt or with retries; null when neither exists. @throws LogError `LOG_REPLACED` when only one exists */
export async function findTopics(
  connection: KafkaConnection,
  options: ResolvedKafkaOptions,
  attempts: 'once' | 'retrying' = 'retrying',
): Promise<LogTopics | null> {
  const names = Object.values(topicNames(options));
  const described = await connection[attempts]('describing topics', (cluster) =>
    describeTopics(findSeedBroker(cluster), names),
  );
  return bothTopics(described, options);
}

function bothTopics(topics: readonly DescribedTopic[], options: ResolvedKafkaOptions): LogTopics | null {
  const names = topicNames(options);
  const [trajectories, control] = STREAMS.map((stream) =>
    topics.find(({ topic }) => topic === names[stream]),
  );
  if (trajectories !== undefined && control !== undefined) return { trajectories, control };
  if (trajectories === undefined && control === undefined) return null;
  const [there, missing] =
    trajectories === undefined ? [names.control, names.trajectories] : [names.trajectories, names.control];
  throw new LogError(
    'LOG_REPLACED',
    `topic ${missing} does not exist, but ${there} does, and a log needs both: restore ${missing}, or delete ${there} too to start a new log`,
  );
}

async function createTopics(connection: KafkaConnection, options: ResolvedKafkaOptions): Promise<LogTopics> {
  const names = topicNames(options);
  // If another process creates the topics first, this does nothing, and its topics are checked like any that existed.
  await connection.administering('creating topics', async (admin) => {
    const { brokers } = await admin.describeCluster();
    // A broker that has just started can answer before it is registered.
    if (brokers.length === 0) throw new NotReadyError('the cluster names no broker yet');
    const replicationFactor = options.replicationFactor ?? Math.min(PREFERRED_REPLICAS, brokers.length);
    await admin.createTopics({
      timeout: TIMEOUT_MS,
      waitForLeaders: false,
      topics: STREAMS.map((stream) => ({
        topic: names[stream],
        numPartitions:
          stream === 'control' ? 1 : (options.numTrajectoryPartitions ?? DEFAULT_TRAJECTORY_PARTITIONS),
        replicationFactor,
        configEntries: settingsFor(stream, replicationFactor, options).map(({ name, value }) => ({
          name,
          value,
        })),
      })),
    });
  });
  return connection.retrying('waiting for new topics', async () => {
    const found = await findTopics(connection, options).catch((error: unknown) => {
      if (error instanceof LogError && error.code === 'LOG_REPLACED') return null;
      throw error;
    });
    if (found === null) throw new NotReadyError('the new topics are not known yet');
    return found;
  });
}

/** A setting of a topic: the value with which it is created, and the rule for topics that exist. */
interface TopicSetting {
  readonly name: string;
  readonly value: string;
  readonly isAllowed: (value: string) => boolean;
  readonly rule: string;
}

function settingsFor(
  stream: Stream,
  replicationFactor: number,
  options: ResolvedKafkaOptions,
): readonly TopicSetting[] {
  const retentionMs = stream === 'control' ? -1 : options.trajectoryRetentionMs;
  const leastInsync = options.minInsyncReplicas ?? (replicationFactor >= 3 ? 2 : 1);
  const leastMessage = options.maxBatchBytes + BATCH_OVERHEAD_BYTES;
  return [
    { name: 'cleanup.policy', value: 'delete', isAllowed: (value) => value === 'delete', rule: 'delete' },
    {
      name: 'retention.ms',
      value: `${retentionMs}`,
      isAllowed: (value) => Number(value) < 0 || (retentionMs >= 0 && Number(value) >= retentionMs),
      rule: retentionMs < 0 ? '-1 (for ever)' : `-1 or at least ${retentionMs} (trajectoryRetentionMs)`,
    },
    {
      name: 'retention.bytes',
      value: '-1',
      isAllowed: (value) => Number(value) === -1,
      rule: '-1 (no limit)',
    },
    {
      name: 'min.insync.replicas',
      value: `${leastInsync}`,
      isAllowed: (value) => Number(value) >= leastInsync && Number(value) <= replicationFactor,
      rule: `from ${leastInsync} to ${replicationFactor}, the number of copies`,
    },
    {
      name: 'max.message.bytes',
      value: `${leastMessage}`,
      isAllowed: (value) => Number(value) >= leastMessage,
      rule: `at least ${leastMessage} (maxBatchBytes ${options.maxBatchBytes} and its frame)`,
    },
    {
      name: 'unclean.leader.election.enable',
      value: 'false',
      isAllowed: (value) => value === 'false',
      rule: 'false, or acknowledged records can be lost',
    },
  ];
}

type Settings = ReadonlyMap<string, string>;

async function readSettings(
  connection: KafkaConnection,
  options: ResolvedKafkaOptions,
): Promise<Readonly<Record<Stream, Settings>>> {
  const names = topicNames(options);
  const { resources } = await connection.administering('reading topic settings', (admin) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: STREAMS.map((stream) => ({ type: ConfigResourceTypes.TOPIC, name: names[stream] })),
    }),
  );
  const of = (name: string): Settings => {
    const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
    return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
  };
  return { trajectories: of(names.trajectories), control: of(names.control) };
}

function checkTopic(
  stream: Stream,
  { topic, numPartitions, replicationFactor }: DescribedTopic,
  settings: Settings,
  options: ResolvedKafkaOptions,
): void {
  const refuse = (setting: string, value: string | number, rule: string): never => {
    throw new LogError('LOG_INCOMPATIBLE', `topic ${topic}: ${setting} is ${value}; must be ${rule}`);
  };
  const wanted = stream === 'control' ? 1 : options.numTrajectoryPartitions;
  if (wanted !== undefined && numPartitions !== wanted) {
    const why =
      stream === 'control'
        ? ', as control events have one order'
        : ' (numTrajectoryPartitions), or leave that out';
    refuse('the number of partitions', numPartitions, `${wanted}${why}`);
  }
  for (const { name, isAllowed, rule } of settingsFor(stream, replicationFactor, options)) {
    const value = settings.get(name) ?? 'not told by the broker';
    if (!isAllowed(value)) refuse(name, value, rule);
  }
}

function findSeedBroker({ brokerPool }: Cluster): Broker {
  if (brokerPool.seedBroker === undefined) throw new NotReadyError('the cluster is not connected');
  return brokerPool.seedBroker;
}
