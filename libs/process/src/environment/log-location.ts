import { readFileSync } from 'node:fs';
import type { LogLocation } from '@retrace/log';
import { ProcessError } from '../process-error.js';
import type { EnvironmentVariables } from './variables.js';

type KafkaLocation = Extract<LogLocation, { kind: 'kafka' }>;

/**
 * Returns the location of the event log: topics on Kafka if brokers are named, else a directory.
 *
 * @param variables parsed by `readVariables` with `opensLog`
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` when a file with a certificate or key can't be read
 */
export function readLogLocation(variables: EnvironmentVariables): LogLocation {
  const { RETRACE_KAFKA_BROKERS: brokers, RETRACE_LOG_DIRECTORY: path = '' } = variables;
  if (brokers === undefined) {
    return { kind: 'lmdb', path, maxEventBytes: variables.RETRACE_MAX_EVENT_BYTES };
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
    sasl: readSasl(variables),
    tls: readTls(variables),
  });
}

function readSasl(variables: EnvironmentVariables): KafkaLocation['sasl'] {
  const { RETRACE_KAFKA_SASL_MECHANISM: mechanism } = variables;
  if (mechanism === undefined) return undefined;
  const { RETRACE_KAFKA_USERNAME: username = '', RETRACE_KAFKA_PASSWORD: password = '' } = variables;
  return { mechanism, username, password };
}

/** TLS is on if the variables say so, or name a certificate or a key. */
function readTls(variables: EnvironmentVariables): KafkaLocation['tls'] {
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

/** `openLog` has defaults for absent options, but not for those that are `undefined`. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
