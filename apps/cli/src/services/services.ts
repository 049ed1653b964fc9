import type { LogLocation } from '@retrace/log';
import { DataDirectory, readLogLocation, namesKafka, readVariables } from '@retrace/process';
import { commandEnvironment } from '../data-directory/environment.js';

/** The log and the store that the environment names, instead of those of a data directory. */
export interface Services {
  readonly log: LogLocation;
  readonly storeUrl: string;
  /** Null for a single server. */
  readonly storeCluster: string | null;
  /** Paths of checkpoints and tokenizers, and the credentials of the store. */
  readonly directory: DataDirectory;
}

/**
 * Reads the services that the environment names; null unless it names a log on Kafka.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`
 */
export function readServices(dataDir: string): Services | null {
  if (!namesKafka(commandEnvironment)) return null;
  const variables = readVariables(commandEnvironment, {
    opensLog: true,
    requires: ['RETRACE_STORE_URL'],
    reads: [
      'RETRACE_STORE_CLUSTER',
      'RETRACE_STORE_USER',
      'RETRACE_STORE_PASSWORD',
      'RETRACE_STORE_READONLY_USER',
      'RETRACE_STORE_READONLY_PASSWORD',
      'RETRACE_CHECKPOINT_DIRECTORY',
      'RETRACE_TOKENIZER_DIRECTORY',
    ],
  });
  return {
    log: readLogLocation(variables),
    storeUrl: variables.RETRACE_STORE_URL,
    storeCluster: variables.RETRACE_STORE_CLUSTER ?? null,
    directory: new DataDirectory(dataDir, {
      checkpoints: variables.RETRACE_CHECKPOINT_DIRECTORY,
      tokenizers: variables.RETRACE_TOKENIZER_DIRECTORY,
      credentials: {
        user: variables.RETRACE_STORE_USER ?? 'retrace',
        password: variables.RETRACE_STORE_PASSWORD ?? '',
        readonlyUser: variables.RETRACE_STORE_READONLY_USER ?? 'retrace_readonly',
        readonlyPassword: variables.RETRACE_STORE_READONLY_PASSWORD ?? '',
      },
    }),
  };
}
