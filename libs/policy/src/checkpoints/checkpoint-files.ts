import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PolicyError } from '../policy-error.js';

/** Names the content of a file. */
export interface FileRef {
  /** Hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

const suffix = '.safetensors';
const partialSuffix = '.partial';

/** What a writer that died has left is removed once it is this old. */
const abandonedAfterMs = 3_600_000;

/**
 * Immutable files in one directory, named by the SHA-256 of their content. Several processes may write and read.
 * A file is complete or absent: it is written aside, synced, and renamed, and its directory is synced.
 */
export class CheckpointFiles {
  constructor(private readonly directory: string) {}

  /**
   * Resolves when the content is durable. Writing what is there already changes nothing; a corrupt file is replaced.
   * Throws `PolicyError` (`CHECKPOINT_NOT_WRITTEN`, retriable) when the disk refuses; nothing is left behind then.
   */
  async write(bytes: Uint8Array): Promise<FileRef> {
    const ref = { sha256: sha256(bytes), sizeBytes: bytes.length };
    if (await this.isIntact(ref)) return ref;
    const partial = join(this.directory, `${ref.sha256}.${randomUUID()}${partialSuffix}`);
    try {
      await mkdir(this.directory, { recursive: true });
      await this.removeAbandoned();
      await writeSynced(partial, bytes);
      await rename(partial, this.pathOf(ref.sha256));
      await syncDirectory(this.directory);
    } catch (cause) {
      await rm(partial, { force: true }).catch(() => undefined);
      const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new PolicyError(
        'CHECKPOINT_NOT_WRITTEN',
        `a checkpoint file of ${bytes.length} bytes could not be written (${reason}); free disk space or fix the permissions of the checkpoint directory`,
        { cause, retriable: true },
      );
    }
    return ref;
  }

  /** The content, verified. Throws `PolicyError` (`CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`). */
  async read(ref: FileRef): Promise<Uint8Array> {
    const bytes = await readFile(this.pathOf(ref.sha256)).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      throw new PolicyError('CHECKPOINT_MISSING', `checkpoint file ${ref.sha256} is not there`, { cause });
    });
    if (bytes.length !== ref.sizeBytes || sha256(bytes) !== ref.sha256) {
      throw new PolicyError(
        'CHECKPOINT_CORRUPT',
        `checkpoint file ${ref.sha256} has ${bytes.length} bytes that don't match its hash; it should have ${ref.sizeBytes}`,
      );
    }
    return bytes;
  }

  /** Removing what is not there is no error. */
  async remove(sha256: string): Promise<void> {
    await rm(this.pathOf(sha256), { force: true });
  }

  /** All complete files, by hash; sizes as they are on disk, contents not verified. */
  async list(): Promise<FileRef[]> {
    const names = (await this.names()).filter((name) => name.endsWith(suffix)).sort();
    return Promise.all(
      names.map(async (name) => ({
        sha256: name.slice(0, -suffix.length),
        sizeBytes: (await stat(join(this.directory, name))).size,
      })),
    );
  }

  private isIntact(ref: FileRef): Promise<boolean> {
    return this.read(ref).then(
      () => true,
      () => false,
    );
  }

  private async removeAbandoned(): Promise<void> {
    for (const name of (await this.names()).filter((name) => name.endsWith(partialSuffix))) {
      const path = join(this.directory, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      if (Date.now() - mtimeMs > abandonedAfterMs) await rm(path, { force: true });
    }
  }

  private async names(): Promise<string[]> {
    return readdir(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  private pathOf(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      throw new PolicyError('INVALID_REQUEST', `${JSON.stringify(sha256)} is not a SHA-256 in hex`);
    }
    return join(this.directory, `${sha256}${suffix}`);
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
