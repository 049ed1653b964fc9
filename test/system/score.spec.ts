import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../support/cli.mjs';

/** The example in docs/rewards.md, as a reader would save it. */
const document = readFileSync(join(root, 'docs', 'rewards.md'), 'utf8');
const example = /<!-- brief-reward.mjs -->\n\n```js\n([\s\S]*?)```/.exec(document)?.[1] ?? '';

describe('retrace score', () => {
  const directory = makeDataDirectory();
  const data = ['--data-dir', join(directory.path, 'data')];
  const recipeFile = join(directory.path, 'mine.json');
  let store: ReturnType<typeof startRetrace>;

  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runRetrace([...args, ...data, '--json']);
    expect(stderr).toMatch(/^(run "latest" is \S+ \(\S+\))?$/);
    expect(code).toBe(0);
    return JSON.parse(stdout) as T;
  }

  interface Report {
    readonly rewardVersion: string;
    readonly numScored: number;
    readonly numKept: number;
    readonly numWithoutTotal: number;
  }

  beforeAll(async () => {
    writeFileSync(join(directory.path, 'brief-reward.mjs'), example);
    const recipe = resolveRecipe('bandit-ppo');
    const components = [{ reward: 'environment' }, { module: './brief-reward.mjs', weight: 0.5 }];
    writeFileSync(recipeFile, JSON.stringify({ ...recipe, reward: { ...recipe.reward, components } }));
    const { code, stderr } = await runRetrace([
      'train',
      ...['--recipe', recipeFile, '--updates', '2', '--set', 'collection.groupsPerRound=8'],
      ...['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0'],
      ...data,
    ]);
    expect(stderr).not.toContain('retrace: ');
    expect(code).toBe(0);
    // One store for all commands: it is what takes the time.
    store = startRetrace(['store', '--port', '0', ...data]);
    await store.waitFor(/store at (http:\S+);/);
  });
  afterAll(async () => {
    await store.stop('SIGTERM');
    directory.remove();
  });

  it('score: gives the reward version that training used, also with a reward from a file', async () => {
    const report = await json<Report>('score', '--recipe', recipeFile, '--name', 'mine');
    const updates = await json<{ reward_version: string }[]>(
      'sql',
      'SELECT DISTINCT reward_version FROM updates',
    );
    expect(updates).toEqual([{ reward_version: report.rewardVersion }]);
    expect(report).toMatchObject({ numKept: 0, numWithoutTotal: 0 });
    expect(report.numScored).toBe(16);
    const [{ wrong }] = await json<{ wrong: number }[]>(
      'sql',
      `SELECT countIf(abs(total - (components['environment'] + 0.5 * components['brief'])) > 1e-12 OR components['brief'] != 1) AS wrong FROM scores`,
    );
    expect(wrong).toBe(0);
    expect(await json<Report>('score', '--recipe', recipeFile)).toMatchObject({ numScored: 0 });
  });

  it('score: takes the newest run that has a recipe, and says which', { tags: 'release' }, async () => {
    await json('play', '--policy', 'random', '--environment', 'bandit', '--tasks', '1');
    const runs = await json<{ run_id: string; recipe: boolean }[]>(
      'sql',
      "SELECT run_id, JSONHas(recipe, 'collection') AS recipe FROM runs ORDER BY started_at",
    );
    expect(runs.map(({ recipe }) => Number(recipe))).toEqual([1, 0]);
    expect(await json('score')).toMatchObject({ runId: runs[0].run_id, numKept: 16 });
  });

  it('audit rewards: holds the rewards of a version against success', async () => {
    const audit = await json<{ numEpisodes: number; values: readonly { name: string; mean: number }[] }>(
      ...['audit', 'rewards', '--reward-version', 'mine'],
    );
    expect(audit.numEpisodes).toBe(16);
    expect(audit.values.map(({ name }) => name)).toEqual(['total', 'brief', 'environment']);
    const [{ mean }] = await json<{ mean: number }[]>(
      'sql',
      "SELECT avg(return) AS mean FROM episodes WHERE split = 'train'",
    );
    expect(audit.values[2].mean).toBeCloseTo(mean, 12);
  });

  it('score diff: compares two reward versions', { tags: 'release' }, async () => {
    // The newest run of the recipe's environment is the one of the play.
    const [{ run_id: trained }] = await json<{ run_id: string }[]>(
      'sql',
      "SELECT run_id FROM runs WHERE JSONHas(recipe, 'collection')",
    );
    await json('score', '--run', trained, '--recipe', 'bandit-ppo', '--name', 'plain');
    const diff = await json<{ values: { name: string; numCompared: number }[] }>(
      ...['score', 'diff', 'plain', 'mine', '--limit', '3'],
    );
    expect(diff.values.map(({ name }) => name)).toEqual(['total', 'brief', 'environment']);
    const { stdout } = await runRetrace(['score', 'diff', 'plain', 'mine', ...data]);
    expect(stdout).toContain('Kendall');
    const ofSplit = (split: string) =>
      runRetrace(['score', 'diff', 'plain', 'mine', '--split', split, ...data]);
    expect((await ofSplit('train')).stdout).toBe(stdout);
    expect((await ofSplit('test')).stderr).toMatch(/no episode of split 'test' has a score of plain/);
  });

  it(
    'score: refuses unknown versions, runs and reward modules in one sentence',
    { tags: 'release' },
    async () => {
      const unknown = await runRetrace(['score', 'diff', 'plain', 'brief', ...data]);
      expect(unknown.code).toBe(2);
      expect(unknown.stderr).toMatch(
        /^run "latest" is .*\nretrace: reward version 'brief' .* has no scores; use one of .*mine/,
      );
      const run = await runRetrace(['score', '--run', 'none', ...data]);
      expect(run.stderr).toMatch(/^retrace: run "none" not found/);
      writeFileSync(join(directory.path, 'brief-reward.mjs'), 'export const brief = 1;');
      const module = await runRetrace(['score', '--recipe', recipeFile, ...data]);
      expect(module.stderr).toMatch(
        /^run "latest" is .*\nretrace: reward module .*brief-reward.mjs: has no default export/,
      );
      const train = await runRetrace(['train', '--recipe', recipeFile, '--seed', '9', ...data]);
      expect(train.code).toBe(2);
      expect(train.stderr).toContain('brief-reward.mjs: has no default export');
    },
  );

  it(
    'score: resumes after a kill, and ends with the same rows as without the kill',
    { tags: 'release' },
    async () => {
      await runRetrace([
        'collect',
        '--environment',
        'frozen-lake',
        '--policy',
        'random',
        '--episodes',
        '2000',
        ...data,
      ]);
      const session = startRetrace(['score', '--recipe', 'frozen-lake-grpo', '--name', 'killed', ...data]);
      await session.waitFor(/scores written/);
      // At once: by the time that `killTree` has looked for processes, the rest may be scored.
      process.kill(-session.pid, 'SIGKILL');
      await session.ended;
      const killed = await json<Report>('score', '--recipe', 'frozen-lake-grpo', '--name', 'killed');
      expect(killed.numKept).toBeGreaterThan(0);
      expect(killed.numScored).toBeGreaterThan(0);
      expect(killed.numScored + killed.numKept).toBe(2000);
      // The recipe scores by the environment alone, so the return that the collector sealed is an independent oracle.
      const [found] = await json<object[]>(
        'sql',
        `SELECT count() AS num, uniqExact(episode_id) AS unique, countIf(abs(s.total - e.return) > 1e-9) AS wrong
       FROM scores AS s INNER JOIN episodes AS e ON s.run_id = e.run_id AND s.episode_id = e.episode_id
       WHERE s.run_id = (SELECT max(run_id) FROM runs)`,
      );
      expect(found).toEqual({ num: 2000, unique: 2000, wrong: 0 });
    },
  );
});
