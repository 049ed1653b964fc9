import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';
import { KeyDirectory, keyIdOf, keyStateAt, matchesKey, type StoredKeys } from '@retrace/process';
import { RequestError } from '../protocol/request-error.js';

/** A key that was made or revoked counts after this time. */
const MAX_AGE_MS = 1_000;
const SCOPES: readonly string[] = ['read', 'admin'];

/** Asks for API keys as Retrace's API does: always beyond the loopback interface, and on it as soon as there is a key. */
export class KeyGuard {
  private readonly directory: KeyDirectory | null;
  private readonly isLocal: boolean;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private stored: Promise<StoredKeys> = Promise.resolve({ keys: [], damaged: [] });

  constructor({ host, keyDirectory }: { readonly host: string; readonly keyDirectory: string | null }) {
    this.directory = keyDirectory === null ? null : new KeyDirectory(keyDirectory);
    this.isLocal = host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
  }

  /** @throws RequestError 401 without a usable key, 403 where the key lacks the scope "read" */
  async check({ authorization }: IncomingHttpHeaders): Promise<void> {
    if (this.directory === null) return;
    const { keys, damaged } = await this.read(this.directory);
    if (this.isLocal && keys.length + damaged.length === 0) return;
    const [, sent] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (sent === undefined) throw refused('This server needs an API key: send "Authorization: Bearer <key>"');
    const id = keyIdOf(sent);
    const key = keys.find((each) => each.id === id);
    if (key === undefined || !matchesKey(sent, key)) throw refused('Unknown API key');
    const state = keyStateAt(key, Date.now());
    if (state !== 'active') throw refused(`The API key is ${state}`);
    if (key.scopes.some((scope) => SCOPES.includes(scope))) return;
    const message = `This server needs the scope "read"; key "${key.name}" has ${key.scopes.join(', ')}`;
    throw new RequestError(message, { status: 403, code: 'scope_missing' });
  }

  private read(directory: KeyDirectory): Promise<StoredKeys> {
    const nowMs = performance.now();
    if (nowMs - this.readAtMs >= MAX_AGE_MS) {
      this.readAtMs = nowMs;
      this.stored = directory.list();
    }
    return this.stored;
  }
}

function refused(message: string): RequestError {
  return new RequestError(message, { status: 401, code: 'invalid_api_key' });
}
