import type { LogLocation } from '@retrace/log';
import {
  CHECKPOINT_STORAGE_VARIABLES,
  readCheckpointStorage,
  DataDirectory,
  readVariables,
  type CheckpointStorageConfig,
} from '@retrace/process';

/** The environment of the command line, read nowhere else. Every use parses it by the schema of `@retrace/process`. */
export const commandEnvironment: NodeJS.ProcessEnv = process.env;

/** A data directory, with the parts of it that the environment places elsewhere. */
export function dataDirectoryAt(path: string): DataDirectory {
  const variables = readVariables(commandEnvironment, {
    reads: ['RETRACE_CHECKPOINT_DIRECTORY', 'RETRACE_TOKENIZER_DIRECTORY'],
  });
  return new DataDirectory(path, {
    checkpoints: variables.RETRACE_CHECKPOINT_DIRECTORY,
    tokenizers: variables.RETRACE_TOKENIZER_DIRECTORY,
  });
}

/** The log in a data directory, with the limits that the environment sets. */
export function locateLog(directory: DataDirectory): Extract<LogLocation, { kind: 'lmdb' }> {
  const { RETRACE_MAX_EVENT_BYTES: maxEventBytes } = readVariables(commandEnvironment, {
    reads: ['RETRACE_MAX_EVENT_BYTES'],
  });
  return { kind: 'lmdb', path: directory.log, maxEventBytes };
}

/** The directory of the API keys: that of the data directory, unless the environment names another. */
export function locateKeys(directory: DataDirectory): string {
  const variables = readVariables(commandEnvironment, { reads: ['RETRACE_API_KEYS_DIRECTORY'] });
  return variables.RETRACE_API_KEYS_DIRECTORY ?? directory.keys;
}

/** The object storage of the checkpoints: the one that the environment names, or else that of the data directory; null where there is none. */
export function checkpointStorageFor(directory: DataDirectory): CheckpointStorageConfig | null {
  const variables = readVariables(commandEnvironment, { reads: CHECKPOINT_STORAGE_VARIABLES });
  return readCheckpointStorage(variables) ?? directory.checkpointStorage();
}
