import type { LogConfig } from './log-config.js';
import type { EnvironmentVariables } from './variables.js';

/**
 * The environment variables that hand settings to a child process. The log is always named in full: a child in a data directory must
 * not take a broker from the environment that it inherits.
 */
export function roleEnvironment(
  log: Extract<LogConfig, { kind: 'lmdb' }>,
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
