import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace } from './support/cli.mjs';

interface ShownKey {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly state: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

describe('retrace keys', () => {
  let directory: { path: string; remove: () => void };

  beforeAll(() => {
    directory = makeDataDirectory();
  });

  afterAll(() => {
    directory.remove();
  });

  const run = (...args: string[]) => runRetrace(['keys', ...args, '--data-dir', directory.path]);
  const list = async () => JSON.parse((await run('list', '--json')).stdout) as { keys: ShownKey[] };

  it('create prints the key on stdout, this once; list shows everything but it', async () => {
    expect(await run('list')).toMatchObject({ code: 0, stdout: 'no keys' });
    const made = await run('create', '--name', 'ci', '--scopes', 'ingest,read', '--expires-in', '30d');
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^retrace_[0-9a-f]{12}_[\w-]{43}$/);
    expect(made.stderr).toMatch(
      /^Key "ci" with ingest, read, until \S+Z\. It is shown this once: only its hash is stored\.$/,
    );
    const { keys } = await list();
    const prefix = made.stdout.slice(0, 20);
    expect(keys).toMatchObject([
      { prefix, name: 'ci', scopes: ['ingest', 'read'], state: 'active', lastUsedAt: null },
    ]);
    const days = (Date.parse(keys[0].expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
    const file = readFileSync(join(directory.path, 'keys', `${keys[0].id}.json`), 'utf8');
    expect(file).toContain(createHash('sha256').update(made.stdout).digest('hex'));
    expect(file + (await run('list')).stdout).not.toContain(made.stdout.slice(21));
  });

  it(
    'revoke takes a name, an id, a prefix or the key; of equal names only a key that can be used counts',
    { tags: 'release' },
    async () => {
      const create = async () =>
        JSON.parse((await run('create', '--name', 'bot', '--scopes', 'sql', '--json')).stdout) as ShownKey & {
          key: string;
        };
      const bots = await Promise.all([create(), create(), create(), create()]);
      expect(await run('revoke', 'bot')).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(
          /^retrace: 4 API keys have the name "bot": (retrace_\w{12}(, )?){4}; give the prefix of one$/,
        ) as string,
      });
      for (const named of [bots[0].id, bots[1].prefix, bots[2].key, 'bot'])
        expect(await run('revoke', named)).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^revoked retrace_/) as string,
        });
      const { keys } = await list();
      expect(keys.filter(({ name }) => name === 'bot').map(({ state }) => state)).toEqual(
        Array(4).fill('revoked'),
      );
      expect(await run('revoke', 'bot')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^retrace: no API key has this id/) as string,
      });
    },
  );

  it.each([
    [['create', '--name', 'x'], /required option '--scopes <list>'/],
    [
      ['create', '--name', 'x', '--scopes', 'root'],
      /It must be one or more of ingest, read, sql, admin, separated by commas\./,
    ],
    [['create', '--name', ' ', '--scopes', 'read'], /It must have 1 to 100 characters/],
    [['create', '--name', 'x', '--scopes', 'read', '--expires-in', 'soon'], /such as 30d/],
  ])('refuses %j with exit code 2, and makes nothing', async (args, said) => {
    const before = readdirSync(join(directory.path, 'keys'));
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
    expect(readdirSync(join(directory.path, 'keys'))).toEqual(before);
  });
});
