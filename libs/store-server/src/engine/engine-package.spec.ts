import { mkdtemp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureEngine, installEngine } from './engine-package.js';

const WANTED = { name: '@retrace-test/engine', version: '1.2.3' };

let home: string;
let source: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'retrace-engine-'));
  source = join(home, 'package');
  await mkdir(source);
  await writeFile(join(source, 'package.json'), JSON.stringify({ ...WANTED, main: 'index.js' }));
  await writeFile(join(source, 'index.js'), 'module.exports = 17;');
});

afterEach(() => rm(home, { recursive: true, force: true }));

describe('installEngine', () => {
  it('installs a package into the cache through npm, where NODE_PATH finds it, and only once', async () => {
    const cacheDirectory = join(home, 'cache');
    const messages: string[] = [];
    const onProgress = (message: string) => messages.push(message);
    const directory = await installEngine(WANTED, { cacheDirectory, source, onProgress });
    expect(createRequire(join(directory, 'x.js'))(WANTED.name)).toBe(17);
    expect(messages).toEqual([
      "downloading ClickHouse's engine (@retrace-test/engine 1.2.3), once for all data directories",
    ]);
    expect(await installEngine(WANTED, { cacheDirectory, source: join(home, 'nowhere') })).toBe(directory);
  });

  it('lets several processes install at once, and leaves one result', async () => {
    const cacheDirectory = join(home, 'cache');
    const all = await Promise.all([1, 2].map(() => installEngine(WANTED, { cacheDirectory, source })));
    expect(new Set(all).size).toBe(1);
    expect(await readdir(join(cacheDirectory, 'engines'))).toEqual(['retrace-test-engine-1.2.3']);
  });

  it("says what npm says where npm can't install it, and leaves nothing behind", async () => {
    const cacheDirectory = join(home, 'cache');
    const attempt = installEngine(WANTED, { cacheDirectory, source: join(home, 'nowhere') });
    await expect(attempt).rejects.toMatchObject({
      code: 'STORE_ENGINE_UNAVAILABLE',
      message: expect.stringMatching(/can't be installed: .+npm package @retrace-test\/engine/) as string,
    });
    expect(await readdir(join(cacheDirectory, 'engines'))).toEqual([]);
  });
});

it('ensureEngine: has nothing to do where npm installed the engine', async () => {
  expect(await ensureEngine({ cacheDirectory: join(home, 'cache') })).toEqual({});
  expect(await readdir(home)).toEqual(['package']);
});
