import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';

describe('retrace retain --run', () => {
  const data = makeDataDirectory();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runRetrace([...args, '--data-dir', data.path]);
    return { code, stdout, stderr };
  };
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await run(...args, '--json')).stdout) as unknown;

  beforeAll(async () => {
    const path = join(data.path, 'chats.jsonl');
    const chat = (n: number) => ({
      messages: [
        { role: 'user', content: `question ${n}` },
        { role: 'assistant', content: `answer ${n}` },
      ],
    });
    writeFileSync(path, [1, 2, 3, 4, 5].map((n) => JSON.stringify(chat(n))).join('\n'));
    expect(await run('import', path, '--run', 'chats')).toMatchObject({ code: 0 });
  });

  afterAll(() => {
    data.remove();
  });

  it('deletes the episodes beyond the newest, or those that are too old, and verify finds no fault', async () => {
    const newest = ['retain', '--run', 'latest', '--newest', '3'];
    expect(await json(...newest, '--dry-run')).toMatchObject({ numEpisodes: 2, numRows: 0, isDryRun: true });
    expect(await json('retain', '--run', 'latest', '--older-than', '1h')).toMatchObject({ numEpisodes: 0 });
    expect(await json(...newest)).toMatchObject({ numEpisodes: 2, numRows: 6, numKept: 0 });
    expect(await json('verify')).toMatchObject({ ok: true, numEpisodes: 3 });
    expect(await json(...newest, '--older-than', '0m')).toMatchObject({ numEpisodes: 3 });
    expect(await json('verify')).toMatchObject({ ok: true, numEpisodes: 0 });
  }, 240_000);

  it.each([
    [['--newest', '3'], /'--newest <n>' needs '--run <run>'/],
    [[], /required option '--older-than <age>' not specified/],
    [['--run', 'latest'], /required option '--older-than <age>' not specified/],
  ])('refuses %j with exit code 2', async (args, said) => {
    const { code, stderr } = await run('retain', ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  });
});
