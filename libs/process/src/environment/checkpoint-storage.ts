import type { EnvironmentVariables, VariableName } from './variables.js';

/** Object storage of checkpoints, as `checkpointsAt` of `@retrace/policy` opens it. Credentials are no part of it. */
export interface CheckpointStorageConfig {
  readonly url: string;
  readonly endpoint?: string;
  readonly region?: string;
}

export const CHECKPOINT_STORAGE_VARIABLES = [
  'RETRACE_CHECKPOINT_STORAGE',
  'RETRACE_CHECKPOINT_ENDPOINT',
  'RETRACE_CHECKPOINT_REGION',
] as const satisfies readonly VariableName[];

type StorageVariables = Pick<EnvironmentVariables, (typeof CHECKPOINT_STORAGE_VARIABLES)[number]>;

/** The storage that the variables name; null where they name none. */
export function readCheckpointStorage(variables: StorageVariables): CheckpointStorageConfig | null {
  const { RETRACE_CHECKPOINT_STORAGE: url, ...others } = variables;
  if (url === undefined) return null;
  const { RETRACE_CHECKPOINT_ENDPOINT: endpoint, RETRACE_CHECKPOINT_REGION: region } = others;
  return {
    url,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
  };
}

/** The variables that name the storage. */
export function checkpointStorageVariables(storage: CheckpointStorageConfig | null): StorageVariables {
  return {
    RETRACE_CHECKPOINT_STORAGE: storage?.url,
    RETRACE_CHECKPOINT_ENDPOINT: storage?.endpoint,
    RETRACE_CHECKPOINT_REGION: storage?.region,
  };
}
