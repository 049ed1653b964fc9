import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  nameContent,
  shardIndexContent,
  type AdoptedFile,
  type CheckpointFiles,
  type FileRef,
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

interface Saved {
  readonly weights: SavedFiles;
  readonly optimizer?: SavedFiles;
}

interface SaveRequest {
  readonly what: 'weights' | 'state';
  /** Text entries of the file of weights. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether each process of the worker writes its own rows. */
  readonly sharded: boolean;
  /** Beside these the worker writes, so that what is taken over need only be renamed. */
  readonly into: CheckpointFiles;
  /** Only names are wanted, and nothing is stored. */
  readonly namesOnly?: boolean;
}

/** Has the worker save, durably, and takes over what it wrote; the worker itself computes the hashes. */
export async function savedFiles(
  connection: EngineConnection,
  { what, metadata, sharded, into, namesOnly = false }: SaveRequest,
): Promise<{ readonly weights: FileRef; readonly optimizer?: FileRef }> {
  const directory = await into.makeScratch();
  const take = ({ files, texts }: SavedFiles): Promise<FileRef> => {
    const written: AdoptedFile[] = files.map((saved) => ({
      ...saved,
      path: join(directory, basename(saved.file)),
    }));
    if (namesOnly) return nameOf(written, sharded ? texts : null);
    return sharded ? into.adopt(written, texts) : into.adoptFile(oneOf(written));
  };
  try {
    const request = { directory, what, metadata, sharded };
    const { weights, optimizer } = await connection.repeatable<Saved>('save', request);
    return { weights: await take(weights), ...(optimizer && { optimizer: await take(optimizer) }) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function nameOf(files: readonly AdoptedFile[], texts: SavedFiles['texts'] | null): Promise<FileRef> {
  if (texts !== null) return nameContent([shardIndexContent(files, texts)]);
  const { sha256, sizeBytes } = oneOf(files);
  return { sha256, sizeBytes };
}

function oneOf(files: readonly AdoptedFile[]): AdoptedFile {
  if (files.length === 1) return files[0];
  throw new TrainerError('ENGINE_LOST', `the engine saved ${files.length} files where one was asked for`);
}

/** @throws TrainerError `ENGINE_LOST` where the worker saved no optimizer */
export function requireState({
  weights,
  optimizer,
}: {
  readonly weights: FileRef;
  readonly optimizer?: FileRef;
}): EngineState {
  if (optimizer) return { weights, optimizer };
  throw new TrainerError('ENGINE_LOST', "the engine's answer to save names no file of the optimizer");
}
