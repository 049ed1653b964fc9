import { readFileSync } from 'node:fs';
import { ProcessError } from '../process-error.js';
import type { Environment } from './environment.js';
import { readVariables, type Variables } from './read-variables.js';
import type { EnvironmentVariables, KAFKA_COMPRESSIONS, SASL_MECHANISMS } from './variables.js';

/** Where the event log is, as `openLog` of `@retrace/log` takes it. */
export type LogConfig =
  | { readonly kind: 'lmdb'; readonly path: string; readonly maxEventBytes?: number }
  | {
      readonly kind: 'kafka';
      readonly brokers: readonly string[];
      readonly prefix?: string;
      readonly numTrajectoryPartitions?: number;
      readonly replicationFactor?: number;
      readonly minInsyncReplicas?: number;
      readonly trajectoryRetentionMs?: number;
      readonly maxBatchBytes?: number;
      readonly deliveryTimeoutMs?: number;
      readonly maxEventBytes?: number;
      readonly compression?: (typeof KAFKA_COMPRESSIONS)[number];
      readonly sasl?: {
        readonly mechanism: (typeof SASL_MECHANISMS)[number];
        readonly username: string;
        readonly password: string;
      };
      readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
    };

/** The log in a directory of this machine that is known already. */
export function logInDirectory(
  path: string,
  { maxEventBytes }: { readonly maxEventBytes?: number } = {},
): Extract<LogConfig, { kind: 'lmdb' }> {
  return withoutUndefined({ kind: 'lmdb', path, maxEventBytes });
}

/**
 * Reads which log a process works on.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`, as `readVariables`
 */
export function readLogConfig(environment: Environment): LogConfig {
  return logConfigOf(readVariables(environment, { opensLog: true }));
}

/** The log that variables name which were read with `opensLog`. */
export function logConfigOf(variables: Variables<never>): LogConfig {
  const { RETRACE_KAFKA_BROKERS: brokers, RETRACE_LOG_DIRECTORY: path = '' } = variables;
  if (brokers === undefined) {
    return logInDirectory(path, { maxEventBytes: variables.RETRACE_MAX_EVENT_BYTES });
  }
  return withoutUndefined({
    kind: 'kafka' as const,
    brokers: brokers.split(','),
    prefix: variables.RETRACE_KAFKA_PREFIX,
    numTrajectoryPartitions: variables.RETRACE_KAFKA_PARTITIONS,
    replicationFactor: variables.RETRACE_KAFKA_REPLICATION_FACTOR,
    minInsyncReplicas: variables.RETRACE_KAFKA_MIN_INSYNC_REPLICAS,
    trajectoryRetentionMs: variables.RETRACE_KAFKA_RETENTION_MS,
    maxBatchBytes: variables.RETRACE_KAFKA_MAX_BATCH_BYTES,
    deliveryTimeoutMs: variables.RETRACE_KAFKA_DELIVERY_TIMEOUT_MS,
    maxEventBytes: variables.RETRACE_MAX_EVENT_BYTES,
    compression: variables.RETRACE_KAFKA_COMPRESSION,
    sasl: saslOf(variables),
    tls: tlsOf(variables),
  });
}

function saslOf(variables: EnvironmentVariables): Extract<LogConfig, { kind: 'kafka' }>['sasl'] {
  const { RETRACE_KAFKA_SASL_MECHANISM: mechanism } = variables;
  if (mechanism === undefined) return undefined;
  const { RETRACE_KAFKA_USERNAME: username = '', RETRACE_KAFKA_PASSWORD: password = '' } = variables;
  return { mechanism, username, password };
}

/** A file with certificates asks for TLS, too. */
function tlsOf(variables: EnvironmentVariables): Extract<LogConfig, { kind: 'kafka' }>['tls'] {
  const ca = readPem('RETRACE_KAFKA_CA_FILE', variables);
  const cert = readPem('RETRACE_KAFKA_CERT_FILE', variables);
  const key = readPem('RETRACE_KAFKA_KEY_FILE', variables);
  const isWanted = variables.RETRACE_KAFKA_TLS ?? ((ca ?? cert ?? key) === undefined ? 'off' : 'on');
  return isWanted === 'on' ? withoutUndefined({ ca, cert, key }) : undefined;
}

function readPem(
  name: 'RETRACE_KAFKA_CA_FILE' | 'RETRACE_KAFKA_CERT_FILE' | 'RETRACE_KAFKA_KEY_FILE',
  variables: EnvironmentVariables,
): string | undefined {
  const path = variables[name];
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ProcessError(
      'ENVIRONMENT_VARIABLE_INVALID',
      `${name}: got ${JSON.stringify(path)}, can't be read (${reason})`,
      { cause },
    );
  }
}

/** Options that were not given take their defaults where they are used. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
