import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hideKeys, parseKeyId, keyStateAt, matchesKey, mintKey } from './api-key.js';
import { KeyDirectory } from './key-directory.js';

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const REQUEST = { name: 'ci', scopes: ['ingest', 'read'], expiresAt: null } as const;

describe('API keys', () => {
  it('a key is its id and 256 random bits', () => {
    const keys = Array.from({ length: 100 }, mintKey);
    expect(new Set(keys.map((key) => key.slice(21))).size).toBe(100);
    for (const key of keys) {
      const [name, id, secret] = /^(retrace)_([0-9a-f]{12})_(.+)$/.exec(key)?.slice(1) ?? [];
      expect([name, id]).toEqual(['retrace', parseKeyId(key)]);
      expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    }
  });

  it('hideKeys: hides the secret of every key in a text, whole or cut off, and keeps its prefix', () => {
    const [first, second] = [mintKey(), mintKey()];
    const hidden = hideKeys(`{"a":"${first}","b":["${second.slice(0, 30)}"]} retrace_run`);
    expect(hidden).toBe(
      `{"a":"${first.slice(0, 21)}(hidden)","b":["${second.slice(0, 21)}(hidden)"]} retrace_run`,
    );
  });

  it('keyStateAt: a key is expired from the moment that it names, and revoked before it is expired', () => {
    const expiresAt = new Date(NOW_MS).toISOString();
    expect(keyStateAt({ expiresAt, revokedAt: null }, NOW_MS - 1)).toBe('active');
    expect(keyStateAt({ expiresAt, revokedAt: null }, NOW_MS)).toBe('expired');
    expect(keyStateAt({ expiresAt, revokedAt: expiresAt }, NOW_MS)).toBe('revoked');
    expect(keyStateAt({ expiresAt: null, revokedAt: null }, Number.MAX_SAFE_INTEGER)).toBe('active');
  });
});

describe('KeyDirectory', () => {
  let path: string;
  let directory: KeyDirectory;

  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'retrace-keys-'));
    directory = new KeyDirectory(join(path, 'keys'));
  });

  afterEach(() => {
    rmSync(path, { recursive: true });
  });

  /** The content of every file below the directory. */
  const contents = () =>
    readdirSync(path, { recursive: true, encoding: 'utf8' })
      .map((name) => join(path, name))
      .filter((file) => statSync(file).isFile())
      .map((file) => readFileSync(file, 'utf8'));

  it('stores the SHA-256 of a key and not the key, in a file that only its owner can read', async () => {
    const { key, stored } = await directory.create(REQUEST, NOW_MS);
    expect(stored.hash).toBe(createHash('sha256').update(key).digest('hex'));
    expect(matchesKey(key, stored)).toBe(true);
    expect(matchesKey(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`, stored)).toBe(false);
    expect(await directory.list()).toEqual({ keys: [stored], damaged: [] });
    expect(contents().join()).not.toContain(key.slice(21));
    expect(statSync(join(directory.path, `${stored.id}.json`)).mode & 0o777).toBe(0o600);
  });

  it('lists no keys where there is no directory', async () => {
    expect(await directory.list()).toEqual({ keys: [], damaged: [] });
  });

  it('names files that hold no key, and lists the others', async () => {
    const { stored } = await directory.create(REQUEST, NOW_MS);
    const damaged = join(directory.path, '0123456789ab.json');
    writeFileSync(damaged, '{"id": "0123456789ab", "scopes": ["root"]}');
    writeFileSync(join(directory.path, 'notes.txt'), 'no key');
    expect(await directory.list()).toEqual({ keys: [stored], damaged: [damaged] });
  });

  it('revoke: keeps the key with the time of its first revocation', async () => {
    const { stored } = await directory.create(REQUEST, NOW_MS);
    const revoked = await directory.revoke(stored, NOW_MS + 1_000);
    await directory.revoke(revoked, NOW_MS + 2_000);
    expect((await directory.list()).keys).toEqual([{ ...stored, revokedAt: '2026-11-23T12:00:01.000Z' }]);
    expect(readdirSync(directory.path)).toEqual([`${stored.id}.json`]);
  });

  it('noteUse: is the time that lastUse answers, null before', async () => {
    const { stored } = await directory.create(REQUEST, NOW_MS);
    expect(await directory.lastUse(stored.id)).toBeNull();
    await directory.noteUse(stored.id, NOW_MS);
    await directory.noteUse(stored.id, NOW_MS + 60_000);
    expect(await directory.lastUse(stored.id)).toBe('2026-11-23T12:01:00.000Z');
  });

  it('createFirst: ten processes at once make one key, which is in the file and which only its owner can read', async () => {
    const file = join(path, 'first-key');
    const made = await Promise.all(
      Array.from({ length: 10 }, () => new KeyDirectory(directory.path).createFirst(file, NOW_MS)),
    );
    const { keys } = await directory.list();
    expect(keys).toEqual([expect.objectContaining({ name: 'first', scopes: ['admin'], revokedAt: null })]);
    expect(made).toEqual(Array.from({ length: 10 }, () => keys[0]));
    expect(matchesKey(readFileSync(file, 'utf8').trim(), keys[0])).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(path).sort()).toEqual(['first-key', 'keys']);
  });

  it('createFirst: goes on where it was killed after the file, and does not undo a revocation', async () => {
    const file = join(path, 'first-key');
    const key = mintKey();
    writeFileSync(file, `${key}\n`);
    const first = await directory.createFirst(file, NOW_MS);
    expect(matchesKey(key, first)).toBe(true);
    const revoked = await directory.revoke(first, NOW_MS);
    expect(await directory.createFirst(file, NOW_MS + 1)).toEqual(revoked);
    writeFileSync(file, 'something else');
    await expect(directory.createFirst(file, NOW_MS)).rejects.toThrow(
      /first-key holds no API key; remove it/,
    );
  });
});
