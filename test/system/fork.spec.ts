import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../support/cli.mjs';
import { LAKE, LAKE_MAX_STEPS, LAKE_MOVES, lakeNeighbour } from '../support/slippery-lake.js';

/** Chance of each move, in the order of LAKE_MOVES. */
const POLICIES: Readonly<Record<string, readonly number[]>> = {
  random: [0.25, 0.25, 0.25, 0.25],
  southeast: [0, 0.5, 0.5, 0],
};
/** Forks that have ended when their process is killed. */
const NUM_ENDED = 20;

interface Step {
  readonly episodeId: string;
  readonly step: string;
  readonly cell: string;
}

interface Report {
  readonly runId: string;
  readonly forks: readonly { readonly episodeId: string; readonly return: number }[];
  readonly values: readonly {
    readonly action: string | null;
    readonly policy: string;
    readonly numForks: number;
    readonly meanReturn: number;
    readonly returnLow: number;
    readonly returnHigh: number;
  }[];
}

describe('retrace fork', () => {
  const directory = makeDataDirectory();
  const data = ['--data-dir', join(directory.path, 'data')];
  let store: ReturnType<typeof startRetrace>;

  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runRetrace([...args, ...data, '--json']);
    expect(stderr).toMatch(/^(run "\S+" is \S+ \(\S+\)\n?)*$/);
    expect(code).toBe(0);
    return JSON.parse(stdout) as T;
  }

  function lakeFile(name: string, options: object): string {
    const file = join(directory.path, `${name}.json`);
    writeFileSync(file, JSON.stringify({ module: './slippery-lake.ts', options }));
    return file;
  }

  /** Collects random play and finds a step with a given number among those that are not in the first cell. */
  async function collectedStep(file: string, step: number): Promise<{ runId: string } & Step> {
    const played = ['--policy', 'random', '--episodes', '40'];
    const { runId } = await json<{ runId: string }>('collect', '--environment', file, ...played);
    const query = `SELECT episode_id AS episodeId, step, anchor AS cell FROM steps WHERE run_id = '${runId}' AND step = ${step} AND anchor != '0' LIMIT 1`;
    const [found] = await json<Step[]>('sql', query);
    return { runId, ...found };
  }

  const forked = ({ runId, episodeId, step }: { runId: string } & Step, ...options: readonly string[]) =>
    json<Report>(
      'fork',
      ...['--run', runId, '--episode', episodeId, '--step', `${Number(step)}`, ...options],
    );

  beforeAll(async () => {
    copyFileSync(join(root, 'test', 'support', 'slippery-lake.ts'), join(directory.path, 'slippery-lake.ts'));
    store = startRetrace(['store', '--port', '0', ...data]);
    await store.waitFor(/store at (http:\S+);/);
  });
  afterAll(async () => {
    await store.stop('SIGTERM');
    directory.remove();
  });

  it.each([0, 1 / 3])(
    'estimates values of steps and actions that agree with dynamic programming, at %f sideways',
    async (sideways) => {
      const file = lakeFile(`lake-${sideways > 0}`, { sideways });
      const point = await collectedStep(file, 2);
      const cell = Number(point.cell);
      const where = ['--environment', file, '-n', '600', '--seed', '3'];
      for (const policy of ['random', 'southeast'] as const) {
        const { values } = await forked(point, '--policy', policy, ...where);
        const value = values.find((row) => row.policy === policy && row.action === null);
        expect(value).toMatchObject({ numForks: 600 });
        expectBinomial(value?.meanReturn, 600, valueOf({ policy, sideways }, cell, LAKE_MAX_STEPS - 2));
      }
      const { values } = await forked(point, '--policy', 'southeast', '--action', 'right', ...where);
      const taken = values.find(({ policy, action }) => policy === 'southeast' && action === 'right');
      // Forks that chose "right" themselves have the chance of the forced ones with their number, and count once.
      expect(taken).toMatchObject({ numForks: 600 });
      const move = LAKE_MOVES.indexOf('right');
      const expected = actionValue({ policy: 'southeast', sideways }, cell, move, LAKE_MAX_STEPS - 2);
      expectBinomial(taken?.meanReturn, 600, expected);
    },
  );

  it('forks a fork, and a fork of that, with the chance that each had', async () => {
    const file = lakeFile('lake-of-forks', { sideways: 1 / 3 });
    let point = await collectedStep(file, 2);
    for (let depth = 1; depth <= 3; depth++) {
      const { runId } = await forked(
        point,
        ...['--environment', file, '--policy', 'random', '-n', '8', '--seed', `${depth}`],
      );
      const query = `SELECT episode_id AS episodeId, step, anchor AS cell FROM steps WHERE run_id = '${runId}' ORDER BY step DESC LIMIT 1`;
      const [last] = await json<Step[]>('sql', query);
      point = { runId, ...last };
    }
    // The last step of the last fork, with the chance that it had, ends as it ended.
    const own = await forked(point, '--environment', file, '--chance', 'parent', '-n', '1');
    const [ended] = await json<{ return: number }[]>(
      'sql',
      `SELECT return FROM episodes WHERE episode_id = '${point.episodeId}'`,
    );
    expect(own.forks.map((fork) => fork.return)).toEqual([ended.return]);
  });

  it('doubles nothing and leaves nothing half when it is killed and run again', async () => {
    const lake = lakeFile('lake-of-kills', { sideways: 1 / 3 });
    const point = await collectedStep(lake, 1);
    const stallFile = join(directory.path, 'stalled');
    const stalling = lakeFile('lake-that-stalls', {
      ...{ sideways: 1 / 3, stallsAfter: NUM_ENDED, stallFile },
    });
    const where = ['--run', point.runId, '--episode', point.episodeId, '--step', '1'];
    const options = ['--policy', 'random', '--seed', '5', '-n', '60'];
    const killed = startRetrace(['fork', ...where, ...options, '--environment', stalling, ...data]);
    while (!existsSync(stallFile)) await sleep(20);
    // Until its events are in the log.
    await sleep(2000);
    process.kill(-killed.pid, 'SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');

    const { runId, values, forks } = await forked(point, ...options, '--environment', lake);
    expect(forks).toHaveLength(60);
    const value = values.find(({ action }) => action === null);
    expect(value).toMatchObject({ numForks: 60 });
    const mean = forks.reduce((sum, fork) => sum + fork.return, 0) / forks.length;
    expect(value?.meanReturn).toBeCloseTo(mean, 12);
    const counted = await json<{ runId: string; ended: string; open: string }[]>(
      'sql',
      `SELECT fork_run_id AS runId, countIf(sealed) AS ended, countIf(NOT sealed) AS open FROM forks WHERE episode_id = '${point.episodeId}' GROUP BY runId`,
    );
    const [left, whole] = counted.sort((a, b) => Number(a.runId === runId) - Number(b.runId === runId));
    expect(Number(left.ended)).toBeGreaterThanOrEqual(NUM_ENDED);
    expect(Number(left.open)).toBeGreaterThan(0);
    expect([Number(whole.ended), Number(whole.open)]).toEqual([60, 0]);
    expect(await json<{ ok: boolean }>('verify')).toMatchObject({ ok: true });
  });
});

interface Model {
  readonly policy: string;
  readonly sideways: number;
}

/** Chance to reach the goal under a policy within a number of moves, by dynamic programming over cells and moves left. */
function valueOf(model: Model, cell: number, numLeft: number): number {
  if (LAKE[cell] === 'G') return 1;
  if (LAKE[cell] === 'O' || numLeft === 0) return 0;
  return POLICIES[model.policy].reduce(
    (sum, chance, move) => sum + (chance === 0 ? 0 : chance * actionValue(model, cell, move, numLeft)),
    0,
  );
}

function actionValue(model: Model, cell: number, move: number, numLeft: number): number {
  const { sideways, policy } = model;
  const key = `${policy}/${sideways}/${cell}/${move}/${numLeft}`;
  let value = known.get(key);
  if (value === undefined) {
    const after = (turn: number) => valueOf(model, lakeNeighbour(cell, (move + turn) % 4), numLeft - 1);
    value = (1 - 2 * sideways) * after(0) + sideways * (after(1) + after(3));
    known.set(key, value);
  }
  return value;
}
const known = new Map<string, number>();

/** Successes must be within the central 99.9 % of their binomial distribution. */
function expectBinomial(mean: number | undefined, n: number, p: number): void {
  const successes = Math.round((mean ?? Number.NaN) * n);
  expect(p).toBeGreaterThan(0);
  let logChance = n * Math.log1p(-p);
  let below = 0;
  let upTo = 0;
  for (let k = 0; k <= successes; k++) {
    below = upTo;
    upTo += Math.exp(logChance);
    logChance += Math.log((n - k) / (k + 1)) + Math.log(p / (1 - p));
  }
  expect(upTo).toBeGreaterThan(0.0005);
  expect(1 - below).toBeGreaterThan(0.0005);
}
