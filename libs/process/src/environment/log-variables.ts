import type { Environment } from './environment.js';
import type { VariableName } from './variables.js';

/** The variables that name the event log. */
export const LOG_VARIABLES = [
  'RETRACE_LOG_DIRECTORY',
  'RETRACE_MAX_EVENT_BYTES',
  'RETRACE_KAFKA_BROKERS',
  'RETRACE_KAFKA_PREFIX',
  'RETRACE_KAFKA_PARTITIONS',
  'RETRACE_KAFKA_REPLICATION_FACTOR',
  'RETRACE_KAFKA_MIN_INSYNC_REPLICAS',
  'RETRACE_KAFKA_RETENTION_MS',
  'RETRACE_KAFKA_MAX_BATCH_BYTES',
  'RETRACE_KAFKA_DELIVERY_TIMEOUT_MS',
  'RETRACE_KAFKA_COMPRESSION',
  'RETRACE_KAFKA_SASL_MECHANISM',
  'RETRACE_KAFKA_USERNAME',
  'RETRACE_KAFKA_PASSWORD',
  'RETRACE_KAFKA_TLS',
  'RETRACE_KAFKA_CA_FILE',
  'RETRACE_KAFKA_CERT_FILE',
  'RETRACE_KAFKA_KEY_FILE',
] as const satisfies readonly VariableName[];

/** The variables of the log that must be set, which depends on others. */
export function requiredLogVariables(environment: Environment): VariableName[] {
  if (!namesKafka(environment)) return ['RETRACE_LOG_DIRECTORY'];
  const usesSasl = (environment.RETRACE_KAFKA_SASL_MECHANISM ?? '') !== '';
  return usesSasl ? ['RETRACE_KAFKA_USERNAME', 'RETRACE_KAFKA_PASSWORD'] : [];
}

/** Whether the environment names a log on Kafka. */
export function namesKafka(environment: Environment): boolean {
  return (environment.RETRACE_KAFKA_BROKERS ?? '') !== '';
}
