import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyDirectory, formatKeyPrefix } from '@retrace/process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyGuard } from './key-guard.js';

describe('KeyGuard', () => {
  let keyDirectory: string;
  let keys: KeyDirectory;
  beforeEach(async () => {
    keyDirectory = await mkdtemp(join(tmpdir(), 'retrace-keys-'));
    keys = new KeyDirectory(keyDirectory);
  });
  const guards: KeyGuard[] = [];
  afterEach(async () => {
    for (const one of guards.splice(0)) await one.close();
    await rm(keyDirectory, { recursive: true });
  });

  const guard = (host: string, directory: string | null = keyDirectory) => {
    const one = new KeyGuard({ host, keyDirectory: directory, onWarning: () => undefined });
    guards.push(one);
    return one;
  };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const create = (scopes: readonly ('read' | 'sql' | 'admin')[]) =>
    keys.create({ name: 'bot', scopes, expiresAt: null }, Date.now());

  it('lets everybody in on the loopback interface while there is no key, and nobody without one elsewhere', async () => {
    await guard('127.0.0.1').check({});
    await guard('0.0.0.0', null).check({});
    await expect(guard('0.0.0.0').check({})).rejects.toMatchObject({ status: 401 });
    await create(['read']);
    await expect(guard('127.0.0.1').check({})).rejects.toMatchObject({ status: 401 });
  });

  it('takes keys with the scope read or admin, and says why it refuses others', async () => {
    const [read, admin, sql] = [await create(['read']), await create(['admin']), await create(['sql'])];
    const one = guard('127.0.0.1');
    for (const { key } of [read, admin]) await one.check(bearer(key));
    await expect(one.check(bearer(sql.key))).rejects.toMatchObject({
      status: 403,
      message: 'This server needs the scope "read"; key "bot" has sql',
    });
    await expect(one.check(bearer(`${read.key.slice(0, -4)}aaaa`))).rejects.toThrow('Unknown API key');
    await keys.revoke(read.stored, Date.parse('2026-01-02T03:04:05Z'));
    await expect(guard('127.0.0.1').check(bearer(read.key))).rejects.toMatchObject({
      status: 401,
      message: `API key ${formatKeyPrefix(read.stored)} was revoked at 2026-01-02T03:04:05.000Z`,
    });
  });

  it('answers 503 while the keys can not be read', async () => {
    const file = join(keyDirectory, 'no directory');
    await writeFile(file, '');
    await expect(guard('0.0.0.0', file).check(bearer('x'.repeat(30)))).rejects.toMatchObject({ status: 401 });
    const { key } = await create(['read']);
    await expect(guard('0.0.0.0', file).check(bearer(key))).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining("The API keys can't be read: ENOTDIR") as string,
    });
  });
});
