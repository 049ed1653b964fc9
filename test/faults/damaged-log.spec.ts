import { cpSync, lstatSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';

const recipe = ['--recipe', 'bandit-ppo', '--backend', 'wasm', '--updates', '8'];

/** A run that was stopped in its midst, and whose log is then lost or damaged; each test has a copy of the data directory. */
describe('retrace with a log that was lost or damaged', { timeout: 300_000 }, () => {
  const whole = makeDataDirectory();
  const data = makeDataDirectory();
  const retrace = (...args: string[]) => runRetrace([...args, '--data-dir', data.path]);
  const logFile = join(data.path, 'log', 'data.mdb');
  let numEpisodes = '';

  beforeAll(async () => {
    const training = startRetrace(['train', ...recipe, '--data-dir', whole.path]);
    await training.waitFor(/update 2\b/, 120_000);
    await training.stop('SIGINT');
    const { stdout } = await runRetrace(['verify', '--data-dir', whole.path]);
    expect(stdout).toMatch(/no faults$/);
    [, numEpisodes] = / ([\d,]+ episodes \([\d,]+ sealed\)),/.exec(stdout)!;
  });
  beforeEach(() => {
    rmSync(data.path, { recursive: true, force: true });
    cpSync(whole.path, data.path, { recursive: true, filter: (path) => !lstatSync(path).isFIFO() });
  });
  afterAll(() => {
    whole.remove();
    data.remove();
  });

  it('names rows of an emptied log, refuses to train on, writes the log again, and trains on', async () => {
    truncateSync(logFile, 0);
    const verified = await retrace('verify');
    expect(verified).toMatchObject({ code: 1, stderr: 'retrace: verify found 1 faults, listed above' });
    expect(verified.stdout).toMatch(
      /^STORE_OF_OTHER_LOG log \S+: the store has [\d,]+ events of log \S+, and the log is \S+: it was lost or replaced/,
    );
    const refused = await retrace('train', ...recipe);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^retrace: the store has [\d,]+ events of log .*; with --accept-other-log both are kept$/m,
    );
    expect((await retrace('rebuild')).stderr).toMatch(/^retrace: the store has [\d,]+ events of log/);

    const written = await retrace('rebuild', '--log-from-store');
    expect(written, written.stderr).toMatchObject({ code: 0 });
    expect(written.stdout).toContain(numEpisodes);
    expect(await retrace('verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/no faults$/) as string,
    });
    const resumed = await retrace('train', ...recipe);
    expect(resumed, resumed.stderr).toMatchObject({ code: 0 });
    expect(resumed.stderr).toContain('resuming bandit-ppo, run');
    expect(await retrace('verify')).toMatchObject({ code: 0 });
    expect(await retrace('rebuild', '--log-from-store')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        'is undamaged and has all that the store has; nothing was changed',
      ) as string,
    });
  });

  it('keeps both logs’ events where it is told to', async () => {
    rmSync(join(data.path, 'log'), { recursive: true });
    expect(await retrace('train', ...recipe, '--accept-other-log')).toMatchObject({
      code: 0,
    });
    expect(await retrace('rebuild', '--log-from-store')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /the store has events of \S+ \([\d,]+\), \S+ \([\d,]+\); name one with --log/,
      ) as string,
    });
    expect(await retrace('rebuild', '--accept-other-log')).toMatchObject({ code: 0 });
    expect(await retrace('verify')).toMatchObject({ code: 0 });
  });

  it.each(['cut in half', 'with zeroed pages'])(
    'refuses a log %s, and goes on with the one that it writes from the store',
    async (damage) => {
      const { size } = statSync(logFile);
      if (damage === 'cut in half') truncateSync(logFile, size / 2);
      else {
        truncateSync(logFile, size - 16 * 4096);
        truncateSync(logFile, size);
      }
      for (const command of [
        ['verify'],
        ['train', ...recipe],
        ['up', '--port', '0', ...recipe],
        ['sql', 'SELECT 1'],
        ['doctor'],
      ]) {
        const { code, stdout, stderr } = await retrace(...command);
        expect(code, stderr).toBe(1);
        expect(stdout + stderr).toMatch(
          /the event log at \S+ is damaged: .*; stop what uses it, then restore the directory from a backup, or run `retrace rebuild --log-from-store`/,
        );
      }
      const written = await retrace('rebuild', '--log-from-store');
      expect(written, written.stderr).toMatchObject({ code: 0 });
      expect(written.stdout).toContain(numEpisodes);
      expect(written.stdout).toMatch(/no faults$/);
      expect(readdirSync(data.path).filter((name) => name.startsWith('log.replaced-'))).toHaveLength(1);
    },
  );
});
