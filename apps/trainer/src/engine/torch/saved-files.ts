import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  nameContent,
  shardIndexContent,
  type CheckpointFiles,
  type FileRef,
  type WrittenFile,
} from '@retrace/policy';
import { TrainerError } from '../../trainer-error.js';
import type { EngineState } from '../update-engine.js';
import type { EngineConnection } from './engine-connection.js';

/** Files that a worker saved: one, or the shards of one in the order of the processes that wrote them. */
interface SavedFiles {
  readonly files: readonly (FileRef & { readonly file: string })[];
  /** Text entries of the whole. */
  readonly texts: Readonly<Record<string, string>>;
}

/** A part of the state, saved as a file or as shards. */
type SavedPart = 'weights' | 'optimizer';

export interface SaveRequest {
  /** Text entries of the file of weights. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether each process of the worker writes its own rows. */
  readonly sharded: boolean;
}

export interface SaveInto extends SaveRequest {
  /** Beside these the worker writes, so that a file need only be renamed. */
  readonly into: CheckpointFiles;
  /** Called once the weights can be read: whole ones before they are durable, shards once they have their index. */
  readonly onWritten?: (weights: WrittenFile) => void;
}

/** Has the worker save the current weights. Resolves when they are durable. */
export async function saveWeights(connection: EngineConnection, request: SaveInto): Promise<FileRef> {
  const [weights] = await savedFiles(connection, ['weights'], request);
  return weights;
}

/** Has the worker save weights and optimizer. Resolves when they are durable. */
export async function saveState(connection: EngineConnection, request: SaveInto): Promise<EngineState> {
  const [weights, optimizer] = await savedFiles(connection, ['weights', 'optimizer'], request);
  return { weights, optimizer };
}

/** The name that the worker's weights or its optimizer would be stored under; nothing is stored. */
export async function nameSaved(
  connection: EngineConnection,
  part: SavedPart,
  request: SaveRequest,
): Promise<FileRef> {
  const { files, texts } = await save(connection, part, { ...request, directory: null });
  if (request.sharded) return nameContent([shardIndexContent(files, texts)]);
  const { sha256, sizeBytes } = requireOne(files);
  return { sha256, sizeBytes };
}

/** Saves one part after the other, the weights first; the worker itself computes the hashes, and the disk takes one part while it writes the next. */
async function savedFiles(
  connection: EngineConnection,
  parts: readonly SavedPart[],
  { into, onWritten, ...request }: SaveInto,
): Promise<FileRef[]> {
  const directory = await into.makeScratch();
  try {
    const saved: SavedFiles[] = [];
    for (const part of parts) {
      const written = await save(connection, part, { ...request, directory });
      saved.push(written);
      if (part === 'weights' && !request.sharded)
        onWritten?.(readableIn(directory, requireOne(written.files)));
    }
    await connection.repeatable('sync', {});
    const files: FileRef[] = [];
    for (const { files: written, texts } of saved) {
      const adopted = written.map((file) => ({ ...file, path: join(directory, basename(file.file)) }));
      files.push(await (request.sharded ? into.adopt(adopted, texts) : into.adoptFile(requireOne(adopted))));
      if (files.length === 1 && request.sharded) onWritten?.({ ...files[0], name: null });
    }
    return files;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function save(
  connection: EngineConnection,
  what: SavedPart,
  { metadata, sharded, directory }: SaveRequest & { readonly directory: string | null },
): Promise<SavedFiles> {
  return connection.repeatable<SavedFiles>('save', {
    ...{ directory, what, sharded },
    metadata: what === 'weights' ? metadata : {},
  });
}

/** A file in a directory of `makeScratch`, as `CheckpointFiles.openWritten` finds it. */
function readableIn(
  directory: string,
  { file, sha256, sizeBytes }: SavedFiles['files'][number],
): WrittenFile {
  return { sha256, sizeBytes, name: `${basename(directory)}/${basename(file)}` };
}

function requireOne<T extends FileRef>(files: readonly T[]): T {
  if (files.length === 1) return files[0];
  throw new TrainerError('ENGINE_LOST', `the engine saved ${files.length} files where one was asked for`);
}
