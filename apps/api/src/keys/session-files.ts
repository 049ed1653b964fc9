import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { parsedObject } from '@retrace/trajectory';
import { ApiConfig } from '../config/api-config.js';

/** A login lasts this long at most. */
const SESSION_MS = 7 * 24 * 60 * 60 * 1_000;
/** How long a session is taken from memory, so that a logout at another API counts after this time. */
const MAX_AGE_MS = 1_000;
const MAX_CACHED = 1_000;

/** A login of a browser by an API key. It ends with its key. */
export interface Session {
  readonly keyId: string;
  readonly expiresAtMs: number;
}

/**
 * Sessions as files beside the keys, so that all APIs that share the keys share the sessions, and a logout counts in all of them. A file is named by
 * the SHA-256 of the session's token: somebody who reads the directory can't use a session.
 */
@Injectable()
export class SessionFiles {
  private readonly directory: string | null;
  private readonly cache = new Map<string, { readonly session: Session | null; readonly readAtMs: number }>();

  constructor({ keyDirectory }: ApiConfig) {
    this.directory = keyDirectory === null ? null : join(keyDirectory, 'sessions');
  }

  /** Begins a session and returns its token. Sessions that have expired are removed meanwhile. */
  async begin(keyId: string): Promise<{ readonly token: string; readonly maxAgeSeconds: number }> {
    if (this.directory === null) throw new Error('no key was verified without a directory of keys');
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await this.removeExpired(this.directory);
    const token = randomBytes(32).toString('base64url');
    const session: Session = { keyId, expiresAtMs: Date.now() + SESSION_MS };
    await writeFile(join(this.directory, makeName(token)), JSON.stringify(session), {
      mode: 0o600,
      flag: 'wx',
    });
    return { token, maxAgeSeconds: SESSION_MS / 1_000 };
  }

  /** Returns the session of a token; null when there is none, or it has expired. */
  async find(token: string): Promise<Session | null> {
    if (this.directory === null) return null;
    const name = makeName(token);
    const cached = this.cache.get(name);
    const nowMs = Date.now();
    const isFresh = cached !== undefined && nowMs - cached.readAtMs < MAX_AGE_MS;
    const session = isFresh ? cached.session : await readSession(join(this.directory, name));
    if (!isFresh) this.remember(name, session, nowMs);
    return session !== null && session.expiresAtMs > nowMs ? session : null;
  }

  async end(token: string): Promise<void> {
    if (this.directory === null) return;
    const name = makeName(token);
    await rm(join(this.directory, name), { force: true });
    this.cache.delete(name);
  }

  private remember(name: string, session: Session | null, readAtMs: number): void {
    if (this.cache.size >= MAX_CACHED) this.cache.clear();
    this.cache.set(name, { session, readAtMs });
  }

  private async removeExpired(directory: string): Promise<void> {
    const nowMs = Date.now();
    for (const name of await readdir(directory)) {
      const session = await readSession(join(directory, name));
      if (session !== null && session.expiresAtMs <= nowMs) await rm(join(directory, name), { force: true });
    }
  }
}

function makeName(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Null where there is no such file, and while it is being written. */
async function readSession(file: string): Promise<Session | null> {
  try {
    const { keyId, expiresAtMs } = parsedObject(await readFile(file, 'utf8')) ?? {};
    return typeof keyId === 'string' && typeof expiresAtMs === 'number' ? { keyId, expiresAtMs } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
