import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';

/* Where `retrace play` plays policies of runs of two environments. */

const SMALL = ['collection.groupsPerRound=8', 'evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'];
const data = makeDataDirectory();
let bandit: string;
let lake: string;

const retrace = (...args: readonly string[]) => runRetrace([...args, '--data-dir', data.path, '--json']);

async function json<T>(...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await retrace(...args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

/** Trains for one update, and returns the name of its newest policy. */
async function train(recipe: string): Promise<string> {
  const sets = SMALL.flatMap((setting) => ['--set', setting]);
  const { runId } = await json<{ runId: string }>('train', '--recipe', recipe, '--updates', '1', ...sets);
  return `run:${runId}`;
}

const named = (policies: readonly string[]) => policies.flatMap((policy) => ['--policy', policy]);

async function placesOf(...policies: readonly string[]): Promise<readonly string[]> {
  const { rows } = await json<{ rows: readonly { readonly environment: string }[] }>(
    ...['play', '--tasks', '2', ...named(policies)],
  );
  return rows.map(({ environment }) => environment);
}

beforeAll(async () => {
  bandit = await train('bandit-ppo');
  lake = await train('frozen-lake-ppo');
});
afterAll(() => {
  data.remove();
});

describe('retrace play without an environment', () => {
  it('plays where the stored policies were trained', async () => {
    expect(await placesOf('latest', 'random')).toEqual(['frozen-lake', 'frozen-lake']);
    expect(await placesOf(bandit)).toEqual(['bandit']);
  });

  it('refuses policies that were trained in two, and names them', async () => {
    const refused = await retrace('play', ...named([bandit, lake]));
    expect(refused.code).not.toBe(0);
    expect(JSON.parse(refused.stderr.split('\n').at(-1) ?? '')).toMatchObject({
      error: {
        code: 'OPTION_INVALID',
        message: expect.stringMatching(/in "bandit" and "frozen-lake"; .*--environment/) as string,
      },
    });
  });
});
