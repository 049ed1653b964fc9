import { TrajectoryError } from '@retrace/trajectory';
import { DEFAULT_MAX_EVENT_BYTES } from '../event-log.js';

export type KafkaCompression = 'none' | 'gzip' | 'zstd';

interface KafkaSasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

/** PEM texts, all optional. The default is the certificate authorities of Node.js, and no client certificate. */
interface KafkaTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface KafkaLogOptions {
  /** `host:port` of some brokers of the cluster, through which the others are found. */
  readonly brokers: readonly string[];
  /** Name and version of the program that opens the log, stored in `LogOpened`. */
  readonly createdBy: string;
  /** Prefix of the topics, `<prefix>trajectories` and `<prefix>control`, and of groups, `<prefix><group>` (default `retrace.`). */
  readonly prefix?: string;
  readonly tls?: KafkaTls;
  readonly sasl?: KafkaSasl;
  /** Compression of the batches that this handle appends (default none). Every handle reads all kinds. */
  readonly compression?: KafkaCompression;
  /** Partitions of stream `trajectories`, fixed when the log is created (default 8). */
  readonly numTrajectoryPartitions?: number;
  /** Copies of each partition in created topics (default 3, or the number of brokers if that is smaller). */
  readonly replicationFactor?: number;
  /** Copies that must have a record before it is acknowledged (default 2 with 3 or more copies, else 1). */
  readonly minInsyncReplicas?: number;
  /** Least time for which records of `trajectories` are kept; −1 = for ever (default). `control` is always kept for ever. */
  readonly trajectoryRetentionMs?: number;
  /** Largest episode event that is accepted (default 8 MiB). */
  readonly maxEventBytes?: number;
  /** Most bytes of one produce request (default 4 MiB); a larger record is sent in several. */
  readonly maxBatchBytes?: number;
  /** How long an append is retried (default 120,000). */
  readonly deliveryTimeoutMs?: number;
  /** How long opening, reading and cursor requests are retried (default 30,000). */
  readonly requestDeadlineMs?: number;
  /** After this long without an answer to a request, the connection is replaced (default 15,000). */
  readonly stallTimeoutMs?: number;
  /** How long a follower's fetch may wait at the broker for records (default 1,000). */
  readonly fetchWaitMs?: number;
}

type WithoutDefault = 'tls' | 'sasl' | 'numTrajectoryPartitions' | 'replicationFactor' | 'minInsyncReplicas';

export type ResolvedKafkaOptions = Required<Omit<KafkaLogOptions, WithoutDefault>> &
  Pick<KafkaLogOptions, WithoutDefault>;

const KIB = 1024;
const MIB = 1024 * KIB;

/** Name under which brokers list this client. */
export const CLIENT_ID = 'retrace';

/** Kafka's rule for names of topics and groups. */
const PREFIX = /^[a-zA-Z0-9._-]{0,200}$/;
const BROKER = /^[^\s:/]+:\d{1,5}$/;

/** Adds the defaults. @throws TrajectoryError `INVALID_ARGUMENT` naming the option, its value and the rule */
export function resolveKafkaOptions(options: KafkaLogOptions): ResolvedKafkaOptions {
  const resolved: ResolvedKafkaOptions = {
    prefix: 'retrace.',
    compression: 'none',
    trajectoryRetentionMs: -1,
    maxEventBytes: DEFAULT_MAX_EVENT_BYTES,
    maxBatchBytes: 4 * MIB,
    deliveryTimeoutMs: 120_000,
    requestDeadlineMs: 30_000,
    stallTimeoutMs: 15_000,
    fetchWaitMs: 1_000,
    ...options,
  };
  const { brokers, prefix } = resolved;
  require_(brokers.length > 0, 'brokers', brokers.join(','), 'at least one host:port');
  for (const broker of brokers) require_(BROKER.test(broker), 'brokers', broker, 'host:port');
  require_(PREFIX.test(prefix), 'prefix', prefix, 'at most 200 letters, digits, dots, dashes or underscores');
  requireInteger('numTrajectoryPartitions', options.numTrajectoryPartitions, 1, 10_000);
  requireInteger('replicationFactor', options.replicationFactor, 1, 100);
  requireInteger('minInsyncReplicas', options.minInsyncReplicas, 1, 100);
  requireInteger('maxBatchBytes', resolved.maxBatchBytes, 16 * KIB, 64 * MIB);
  requireInteger('maxEventBytes', resolved.maxEventBytes, 1, Number.MAX_SAFE_INTEGER);
  requireInteger('trajectoryRetentionMs', resolved.trajectoryRetentionMs, -1, Number.MAX_SAFE_INTEGER);
  for (const name of ['deliveryTimeoutMs', 'requestDeadlineMs', 'stallTimeoutMs', 'fetchWaitMs'] as const) {
    requireInteger(name, resolved[name], 1, 3_600_000);
  }
  return resolved;
}

function requireInteger(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined) return;
  require_(
    Number.isInteger(value) && value >= min && value <= max,
    name,
    String(value),
    `an integer from ${min} to ${max}`,
  );
}

function require_(holds: boolean, name: string, value: string, rule: string): void {
  if (!holds) throw new TrajectoryError('INVALID_ARGUMENT', `${name} is '${value}'; must be ${rule}`);
}
