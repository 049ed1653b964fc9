import { createHash } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import type { FileRef } from './file-ref.js';

export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Pieces smaller than this are written together. */
const GATHERED_BYTES = 2 ** 20;

/** Writes a new file, and resolves when its content is durable; its name is so once its directory is synced. */
export async function writeSynced(
  path: string,
  pieces: Pieces,
  onWritten: (ref: FileRef) => void,
): Promise<FileRef> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const piece of gathered(pieces)) {
      hash.update(piece);
      sizeBytes += piece.length;
      yield piece;
    }
  }
  const file = await open(path, 'wx');
  try {
    await writeFile(file, hashed());
    const ref = { sha256: hash.digest('hex'), sizeBytes };
    onWritten(ref);
    await file.sync();
    return ref;
  } finally {
    await file.close();
  }
}

/** Joins small neighbours into one piece, because a small model has many tensors and each write takes time. */
async function* gathered(pieces: Pieces): AsyncGenerator<Uint8Array> {
  const small = Buffer.allocUnsafe(GATHERED_BYTES);
  let length = 0;
  for await (const piece of pieces) {
    if (length > 0 && length + piece.length > GATHERED_BYTES) {
      yield small.subarray(0, length);
      length = 0;
    }
    if (piece.length >= GATHERED_BYTES) yield piece;
    else {
      small.set(piece, length);
      length += piece.length;
    }
  }
  if (length > 0) yield small.subarray(0, length);
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The name that `CheckpointFiles.write` would store this content under; nothing is stored. */
export async function nameContent(pieces: Pieces): Promise<FileRef> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    sizeBytes += piece.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}
