import { setTimeout as sleep } from 'node:timers/promises';
import { hashKey, parseKeyId, formatKeyPrefix, keyStateAt, matchesKey, type StoredKey } from './api-key.js';
import { KeyDirectory, type StoredKeys } from './key-directory.js';

/** A key that was revoked or made elsewhere counts after this time. */
const MAX_AGE_MS = 1_000;
/** For unknown keys, which may have just been made, the directory is read again, but not more often than this: until then they wait. */
const MAX_AGE_OF_UNKNOWN_MS = 100;
const USE_NOTED_EVERY_MS = 60_000;

/** Whether a key may be used, and if not, why: in words for its holder. */
export type KeyVerdict =
  | { readonly kind: 'accepted'; readonly key: StoredKey }
  | { readonly kind: 'refused'; readonly reason: string };

export interface KeyRingOptions {
  /** Null where a server knows no keys. */
  readonly directory: string | null;
  /** Makes the error with which requests fail while the directory can't be read. */
  readonly toError: (reason: string) => Error;
  readonly onWarning: (line: string) => void;
  /** Key that the processes of one server have for each other, with the scope `ingest`; it is stored nowhere. */
  readonly ownKey?: string | null;
}

/** The keys of the directory, read again when they are older than a second, and only when one is needed. */
export class KeyRing {
  private readonly directory: KeyDirectory | null;
  private readonly own: StoredKey | null;
  private readonly notedAtMs = new Map<string, number>();
  /** Uses that are being written. */
  private noting: Promise<unknown> = Promise.resolve();
  private reading: Promise<StoredKeys> | null = null;
  private readAtMs = 0;

  constructor(private readonly options: KeyRingOptions) {
    this.directory = options.directory === null ? null : new KeyDirectory(options.directory);
    this.own = options.ownKey ? ownKey(options.ownKey) : null;
  }

  /**
   * Whether there is any key, also one that can't be used: the end of the last one opens the server to no one.
   *
   * @throws what `toError` makes when the directory can't be read, as all methods
   */
  async hasKeys(): Promise<boolean> {
    const { keys, damaged } = await this.read(MAX_AGE_MS);
    return keys.length + damaged.length > 0;
  }

  /** Judges a key as a client sent it. */
  async verify(key: string): Promise<KeyVerdict> {
    if (this.own !== null && matchesKey(key, this.own)) return { kind: 'accepted', key: this.own };
    const id = parseKeyId(key);
    const stored = id === null ? null : await this.find(id);
    if (stored === null || !matchesKey(key, stored)) return { kind: 'refused', reason: 'Unknown API key' };
    return this.judge(stored);
  }

  /** Judges a key that was verified before, as a session's was. */
  async verifyId(id: string): Promise<KeyVerdict> {
    const stored = await this.find(id);
    return stored === null ? { kind: 'refused', reason: 'Unknown API key' } : this.judge(stored);
  }

  /** Resolves once the uses of keys until now are noted; nothing is written after that but for keys that are judged later. */
  async close(): Promise<void> {
    await this.noting;
  }

  private judge(key: StoredKey): KeyVerdict {
    const nowMs = Date.now();
    switch (keyStateAt(key, nowMs)) {
      case 'revoked':
        return { kind: 'refused', reason: `API key ${formatKeyPrefix(key)} was revoked at ${key.revokedAt}` };
      case 'expired':
        return { kind: 'refused', reason: `API key ${formatKeyPrefix(key)} expired at ${key.expiresAt}` };
      case 'active':
        this.noteUse(key.id, nowMs);
        return { kind: 'accepted', key };
    }
  }

  private async find(id: string): Promise<StoredKey | null> {
    const known = (await this.read(MAX_AGE_MS)).keys.find((key) => key.id === id);
    if (known !== undefined) return known;
    const lookedAtMs = this.readAtMs;
    await sleep(Math.max(0, lookedAtMs + MAX_AGE_OF_UNKNOWN_MS - performance.now()));
    const { keys } = await this.read(this.readAtMs === lookedAtMs ? 0 : MAX_AGE_MS);
    return keys.find((key) => key.id === id) ?? null;
  }

  private read(maxAgeMs: number): Promise<StoredKeys> {
    if (this.directory === null) return Promise.resolve({ keys: [], damaged: [] });
    const nowMs = performance.now();
    if (this.reading === null || nowMs - this.readAtMs >= maxAgeMs) {
      this.readAtMs = nowMs;
      this.reading = this.directory.list().catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw this.options.toError(reason);
      });
    }
    return this.reading;
  }

  /** Writes in the background, and once a minute at most: no request waits for it or fails with it. */
  private noteUse(id: string, nowMs: number): void {
    if (this.directory === null || nowMs - (this.notedAtMs.get(id) ?? 0) < USE_NOTED_EVERY_MS) return;
    this.notedAtMs.set(id, nowMs);
    const noting = this.directory.noteUse(id, nowMs).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.options.onWarning(`the last use of an API key could not be written: ${reason}`);
    });
    this.noting = Promise.all([this.noting, noting]);
  }
}

function ownKey(key: string): StoredKey {
  return {
    ...{ id: parseKeyId(key) ?? '', name: 'of this server', scopes: ['ingest'], hash: hashKey(key) },
    ...{ createdAt: '', expiresAt: null, revokedAt: null },
  };
}
