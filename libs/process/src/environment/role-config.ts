import type { LogLocation, Share } from '@retrace/log';
import {
  CHECKPOINT_STORAGE_VARIABLES,
  readCheckpointStorage,
  type CheckpointStorageConfig,
} from './checkpoint-storage.js';
import { readLogLocation } from './log-location.js';
import { readVariables } from './read-variables.js';
import { parseShare } from './share.js';
import {
  OPTIONAL_STORE_VARIABLES,
  STORE_VARIABLES,
  readStoreAccess,
  type StoreAccess,
} from './store-access.js';
import type { EnvironmentVariables, VariableName } from './variables.js';

export type BackendChoice = NonNullable<EnvironmentVariables['RETRACE_BACKEND']>;

/** The configuration of a process that works on a run: a collector, a validator or a trainer. */
export interface RunRoleConfig {
  readonly log: LogLocation;
  readonly runId: string;
  /** The directory of checkpoints, and the object storage in its place; null keeps them in the directory. */
  readonly checkpoints: { readonly directory: string; readonly storage: CheckpointStorageConfig | null };
  readonly tokenizerDirectory: string;
  /** Null selects the fastest that this machine has. */
  readonly backend: BackendChoice | null;
  /** Where the process serves its metrics to Prometheus; null serves none. */
  readonly metricsAddress: { readonly host: string; readonly port: number } | null;
}

/** The configuration of a trainer. */
export interface TrainerConfig extends RunRoleConfig {
  /** Where episodes of other runs and of the past are read; null trains on what the log hands over. */
  readonly store: StoreAccess | null;
  /** JSON of the recipe's section `engine`, for a run that goes on with another one; null takes that of the run. */
  readonly engine: string | null;
}

/** The configuration of a collector. */
export interface CollectorConfig extends ValidatorConfig {
  readonly share: Share;
}

/** The configuration of a validator. */
export interface ValidatorConfig extends RunRoleConfig {
  /** Where events are stored while the log is unavailable; null keeps them in memory. */
  readonly spool: { readonly directory: string; readonly maxBytes: number } | null;
}

/** The configuration of a sink that runs in its own process. */
export interface SinkConfig {
  readonly log: LogLocation;
  readonly store: StoreAccess;
  readonly migrationsDirectory: string;
  readonly share: Share;
  /** Whether the store may have events of another log. */
  readonly acceptsOtherLog: boolean;
}

/** The configuration of the embedded store's process. */
export interface StoreServerConfig {
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  readonly users: readonly {
    readonly name: string;
    readonly password: string;
    readonly access: 'full' | 'readonly';
  }[];
}

const RUN_ROLE_VARIABLES = [
  'RETRACE_RUN_ID',
  'RETRACE_CHECKPOINT_DIRECTORY',
  'RETRACE_TOKENIZER_DIRECTORY',
] as const;
const SPOOL_VARIABLES = ['RETRACE_SPOOL_DIRECTORY', 'RETRACE_SPOOL_MAX_BYTES'] as const;
const DEFAULT_SPOOL_BYTES = 1024 ** 3;
const METRICS_HOST = '127.0.0.1';

/** @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`, as `readVariables` */
export function readTrainerConfig(environment: NodeJS.ProcessEnv): TrainerConfig {
  const { config, variables } = readRunRole(environment, ['RETRACE_ENGINE']);
  return { ...config, store: optionalStore(environment), engine: variables.RETRACE_ENGINE ?? null };
}

/** A trainer has a store where its URL is set; then it needs all of it. */
function optionalStore(environment: NodeJS.ProcessEnv): StoreAccess | null {
  if ((environment.RETRACE_STORE_URL ?? '') === '') return null;
  const reads = OPTIONAL_STORE_VARIABLES;
  return readStoreAccess(readVariables(environment, { opensLog: false, reads, requires: STORE_VARIABLES }));
}

/** @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`, as `readVariables` */
export function readCollectorConfig(environment: NodeJS.ProcessEnv): CollectorConfig {
  const { config, variables } = readRunRole(environment, ['RETRACE_COLLECTOR_SHARE', ...SPOOL_VARIABLES]);
  return {
    ...config,
    share: parseShare('RETRACE_COLLECTOR_SHARE', variables.RETRACE_COLLECTOR_SHARE),
    spool: locateSpool(variables),
  };
}

/** @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`, as `readVariables` */
export function readValidatorConfig(environment: NodeJS.ProcessEnv): ValidatorConfig {
  const { config, variables } = readRunRole(environment, SPOOL_VARIABLES);
  return { ...config, spool: locateSpool(variables) };
}

function locateSpool(
  variables: Pick<EnvironmentVariables, (typeof SPOOL_VARIABLES)[number]>,
): ValidatorConfig['spool'] {
  const directory = variables.RETRACE_SPOOL_DIRECTORY;
  const maxBytes = variables.RETRACE_SPOOL_MAX_BYTES ?? DEFAULT_SPOOL_BYTES;
  return directory === undefined ? null : { directory, maxBytes };
}

function readRunRole(environment: NodeJS.ProcessEnv, reads: readonly VariableName[]) {
  const variables = readVariables(environment, {
    opensLog: true,
    reads: [
      ...CHECKPOINT_STORAGE_VARIABLES,
      'RETRACE_BACKEND',
      'RETRACE_METRICS_PORT',
      'RETRACE_METRICS_HOST',
      ...reads,
    ],
    requires: RUN_ROLE_VARIABLES,
  });
  const port = variables.RETRACE_METRICS_PORT;
  const config: RunRoleConfig = {
    log: readLogLocation(variables),
    runId: variables.RETRACE_RUN_ID,
    checkpoints: {
      directory: variables.RETRACE_CHECKPOINT_DIRECTORY,
      storage: readCheckpointStorage(variables),
    },
    tokenizerDirectory: variables.RETRACE_TOKENIZER_DIRECTORY,
    backend: variables.RETRACE_BACKEND ?? null,
    metricsAddress:
      port === undefined ? null : { host: variables.RETRACE_METRICS_HOST ?? METRICS_HOST, port },
  };
  return { config, variables };
}

/** @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`, as `readVariables` */
export function readSinkConfig(environment: NodeJS.ProcessEnv): SinkConfig {
  const variables = readVariables(environment, {
    opensLog: true,
    reads: [...OPTIONAL_STORE_VARIABLES, 'RETRACE_SINK_SHARE', 'RETRACE_ACCEPT_OTHER_LOG'],
    requires: [...STORE_VARIABLES, 'RETRACE_MIGRATIONS_DIRECTORY'],
  });
  return {
    log: readLogLocation(variables),
    store: readStoreAccess(variables),
    migrationsDirectory: variables.RETRACE_MIGRATIONS_DIRECTORY,
    share: parseShare('RETRACE_SINK_SHARE', variables.RETRACE_SINK_SHARE),
    acceptsOtherLog: variables.RETRACE_ACCEPT_OTHER_LOG === 'on',
  };
}

/** @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`, as `readVariables` */
export function readStoreServerConfig(environment: NodeJS.ProcessEnv): StoreServerConfig {
  const variables = readVariables(environment, {
    requires: [
      'RETRACE_STORE_DIRECTORY',
      'RETRACE_STORE_HOST',
      'RETRACE_STORE_PORT',
      'RETRACE_STORE_USER',
      'RETRACE_STORE_PASSWORD',
      'RETRACE_STORE_READONLY_USER',
      'RETRACE_STORE_READONLY_PASSWORD',
    ],
  });
  return {
    directory: variables.RETRACE_STORE_DIRECTORY,
    host: variables.RETRACE_STORE_HOST,
    port: variables.RETRACE_STORE_PORT,
    users: [
      { name: variables.RETRACE_STORE_USER, password: variables.RETRACE_STORE_PASSWORD, access: 'full' },
      {
        name: variables.RETRACE_STORE_READONLY_USER,
        password: variables.RETRACE_STORE_READONLY_PASSWORD,
        access: 'readonly',
      },
    ],
  };
}
