import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parsedObject } from '@retrace/trajectory/json';
import { ProcessError } from '../process-error.js';
import { hashKey, KEY_SCOPES, parseKeyId, mintKey, type KeyScope, type StoredKey } from './api-key.js';

const OWNER_ONLY = 0o600;
const KEY_FILE = /^([0-9a-f]{12})\.json$/;

export interface KeyRequest {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Null for a key that never expires. */
  readonly expiresAt: string | null;
}

export interface StoredKeys {
  readonly keys: readonly StoredKey[];
  /** Files that hold no key, by path. No one can use these keys, and a server that has one is not open to all. */
  readonly damaged: readonly string[];
}

/**
 * The API keys of a data directory: a file for each key, which holds its hash. Files are made and replaced as a whole, and no two
 * processes write the same one, so any number of them can share the directory without a lock.
 */
export class KeyDirectory {
  constructor(readonly path: string) {}

  /** Makes a key and stores its hash. The key itself is returned this once. */
  async create(
    request: KeyRequest,
    nowMs: number,
  ): Promise<{ readonly key: string; readonly stored: StoredKey }> {
    const key = mintKey();
    return { key, stored: await this.store(key, request, nowMs) };
  }

  /**
   * Makes the first key, of scope `admin`, and writes it to a file that only its owner can read. Several processes may do so at once,
   * and any may be killed: all use the key of the one whose file was first.
   *
   * @throws ProcessError `KEY_FILE_DAMAGED` when the file holds something else
   */
  async createFirst(file: string, nowMs: number): Promise<StoredKey> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeOnce(file, `${mintKey()}\n`);
    const key = (await readFile(file, 'utf8')).trim();
    if (parseKeyId(key) === null) {
      throw new ProcessError(
        'KEY_FILE_DAMAGED',
        `${file} holds no API key; remove it, and the next start makes another`,
      );
    }
    return this.store(key, { name: 'first', scopes: ['admin'], expiresAt: null }, nowMs);
  }

  /** Returns all keys, the oldest first, also those that have expired or were revoked. */
  async list(): Promise<StoredKeys> {
    const names = await readdir(this.path).catch(emptyIfMissing);
    const files = names.filter((name) => KEY_FILE.test(name)).map((name) => join(this.path, name));
    const read = await Promise.all(files.map(async (file) => ({ file, key: await readKey(file) })));
    return {
      keys: read
        .flatMap(({ key }) => (key === null ? [] : [key]))
        .sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id)),
      damaged: read.filter(({ key }) => key === null).map(({ file }) => file),
    };
  }

  /** Revokes a key. Its file stays, so that it is known who could do what until when. */
  async revoke(key: StoredKey, nowMs: number): Promise<StoredKey> {
    const revoked = { ...key, revokedAt: key.revokedAt ?? new Date(nowMs).toISOString() };
    const temporary = await writeTemporary(this.fileOf(key.id), formatContent(revoked));
    await rename(temporary, this.fileOf(key.id));
    return revoked;
  }

  /** Remembers that a key was used: the time is that of a file's last change. */
  async noteUse(id: string, nowMs: number): Promise<void> {
    const file = this.useFileOf(id);
    const seconds = nowMs / 1000;
    await utimes(file, seconds, seconds).catch(async () => {
      await writeFile(file, '', { mode: OWNER_ONLY });
      await utimes(file, seconds, seconds);
    });
  }

  /** When a key was last used, to a minute; null if never. */
  async lastUse(id: string): Promise<string | null> {
    return stat(this.useFileOf(id)).then(
      ({ mtime }) => mtime.toISOString(),
      () => null,
    );
  }

  /** Stores a key; where it is stored already, its record stays as it is. */
  private async store(key: string, request: KeyRequest, nowMs: number): Promise<StoredKey> {
    const id = parseKeyId(key) ?? '';
    const stored: StoredKey = {
      id,
      ...request,
      hash: hashKey(key),
      createdAt: new Date(nowMs).toISOString(),
      revokedAt: null,
    };
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await writeOnce(this.fileOf(id), formatContent(stored));
    return (await readKey(this.fileOf(id))) ?? stored;
  }

  private fileOf(id: string): string {
    return join(this.path, `${id}.json`);
  }

  private useFileOf(id: string): string {
    return join(this.path, `${id}.used`);
  }
}

function formatContent(key: StoredKey): string {
  return `${JSON.stringify(key, null, 2)}\n`;
}

/** Writes a file that is there as a whole or not at all; leaves one that is there already as it is. */
async function writeOnce(path: string, content: string): Promise<void> {
  const temporary = await writeTemporary(path, content);
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(temporary);
  }
}

async function writeTemporary(path: string, content: string): Promise<string> {
  const temporary = `${path}.${randomUUID()}`;
  const file = await open(temporary, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  return temporary;
}

/** Null when the file holds no key. */
async function readKey(file: string): Promise<StoredKey | null> {
  const key = parsedObject(await readFile(file, 'utf8'));
  return key !== null && isStoredKey(key) ? key : null;
}

function isStoredKey(value: object): value is StoredKey {
  const { id, name, scopes, hash, createdAt, expiresAt, revokedAt } = value as Readonly<
    Record<string, unknown>
  >;
  return (
    typeof id === 'string' &&
    typeof name === 'string' &&
    Array.isArray(scopes) &&
    scopes.every((scope) => KEY_SCOPES.includes(scope as KeyScope)) &&
    typeof hash === 'string' &&
    /^[0-9a-f]{64}$/.test(hash) &&
    isTime(createdAt) &&
    (expiresAt === null || isTime(expiresAt)) &&
    (revokedAt === null || isTime(revokedAt))
  );
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function emptyIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
