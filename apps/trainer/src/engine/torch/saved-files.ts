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

interface Saved {
  readonly weights: SavedFiles;
  readonly optimizer?: SavedFiles;
}

export interface SaveRequest {
  readonly what: 'weights' | 'state';
  /** Text entries of the file of weights. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether each process of the worker writes its own rows. */
  readonly sharded: boolean;
  /** Beside these the worker writes, so that a file need only be renamed; null has it only compute the names. */
  readonly into: CheckpointFiles | null;
  /** Called once the weights have their name, before the optimizer has. */
  readonly onWritten?: (weights: WrittenFile) => void;
}

/** Has the worker save, durably, and takes over its files; the worker itself computes the hashes. */
export async function savedFiles(
  connection: EngineConnection,
  { what, metadata, sharded, into, onWritten }: SaveRequest,
): Promise<{ readonly weights: FileRef; readonly optimizer?: FileRef }> {
  const directory = (await into?.makeScratch()) ?? null;
  const take = ({ files, texts }: SavedFiles): Promise<FileRef> => {
    if (into === null || directory === null) return nameOf(files, sharded ? texts : null);
    const written = files.map((saved) => ({ ...saved, path: join(directory, basename(saved.file)) }));
    return sharded ? into.adopt(written, texts) : into.adoptFile(oneOf(written));
  };
  try {
    const request = { directory, what, metadata, sharded };
    const saved = await connection.repeatable<Saved>('save', request);
    const weights = await take(saved.weights);
    onWritten?.({ ...weights, name: null });
    return { weights, ...(saved.optimizer && { optimizer: await take(saved.optimizer) }) };
  } finally {
    if (directory !== null) await rm(directory, { recursive: true, force: true });
  }
}

async function nameOf(files: readonly FileRef[], texts: SavedFiles['texts'] | null): Promise<FileRef> {
  if (texts !== null) return nameContent([shardIndexContent(files, texts)]);
  const { sha256, sizeBytes } = oneOf(files);
  return { sha256, sizeBytes };
}

function oneOf<T extends FileRef>(files: readonly T[]): T {
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
