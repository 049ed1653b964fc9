import type { LogLocation } from '@retrace/log';
import type { EnvironmentVariables } from './variables.js';

/**
 * Returns the environment variables that pass settings to a child process. They empty the list of brokers, so that a child in a data
 * directory doesn't connect to a broker that it inherits from this process's environment.
 */
export function roleEnvironment(
  log: Extract<LogLocation, { kind: 'lmdb' }>,
  variables: Omit<EnvironmentVariables, `RETRACE_KAFKA_${string}` | 'RETRACE_LOG_DIRECTORY'>,
): Record<string, string> {
  const named = {
    ...variables,
    RETRACE_LOG_DIRECTORY: log.path,
    RETRACE_MAX_EVENT_BYTES: log.maxEventBytes,
    RETRACE_KAFKA_BROKERS: '',
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}
