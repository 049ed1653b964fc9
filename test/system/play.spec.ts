import { join } from 'node:path';
import { startOpenAiServer, type OpenAiServer } from '@retrace/openai-server';
import { createTokenizer, plainPolicyText, saveHuggingFaceModel, Transformer } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';

interface Row {
  readonly policy: string;
  readonly family: string | null;
  readonly numTasks: number;
  readonly numEpisodes: number;
  readonly numSuccesses: number;
  readonly numFailed: number;
  readonly successRate: number;
  readonly successLow: number;
  readonly successHigh: number;
  readonly passAtK: readonly { readonly k: number; readonly pass: number; readonly numTasks: number }[];
}

interface Report {
  readonly rows: readonly Row[];
  readonly runs: readonly { readonly runId: string; readonly policy: string; readonly greedy: boolean }[];
  readonly comparisons: readonly {
    readonly first: string;
    readonly second: string;
    readonly numTasks: number;
    readonly difference: number;
    readonly differenceLow: number;
    readonly differenceHigh: number;
    readonly numOnlyFirst: number | null;
    readonly numOnlySecond: number | null;
    readonly pValue: number | null;
  }[];
}

interface Played {
  readonly runId: string;
  readonly task: number;
  readonly seed: number;
  readonly family: string;
  readonly success: boolean;
}

describe('retrace play', () => {
  const directory = makeDataDirectory();
  const data = ['--data-dir', join(directory.path, 'data')];
  const model = join(directory.path, 'model');
  let store: ReturnType<typeof startRetrace>;
  let server: OpenAiServer;

  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runRetrace([...args, ...data, '--json']);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as T;
  }

  /** Outcomes by policy, read from the store without the report's code. */
  async function outcomesOf({ runs }: Report): Promise<Map<string, Played[]>> {
    const ids = runs.map(({ runId }) => `'${runId}'`).join(', ');
    const rows = await json<Played[]>(
      'sql',
      `SELECT run_id AS runId, JSONExtractInt(metadata, 'play', 'task') AS task, JSONExtractInt(metadata, 'play', 'seed') AS seed,
         JSONExtractString(metadata, 'play', 'family') AS family, success FROM episodes WHERE run_id IN (${ids})`,
    );
    const read = rows.map((row) => ({ ...row, task: Number(row.task), success: Boolean(row.success) }));
    return new Map(
      runs.map(({ runId, policy }) => [policy, read.filter((row) => row.runId === runId)] as const),
    );
  }

  beforeAll(async () => {
    await openBackend();
    const shape = { hiddenSize: 32, numLayers: 1, numHeads: 4, numKeyValueHeads: 2, headDim: 8 };
    const rest = { ropeTheta: 1e4, rmsNormEps: 1e-6, tieWordEmbeddings: false, attentionBias: true };
    const made = Transformer.initialize(
      { vocabSize: 260, ...shape, ...rest, intermediateSize: 48, maxPositions: 512, valueHead: false },
      1,
    );
    await saveHuggingFaceModel(model, made, { text: plainPolicyText(createTokenizer('byte', [])) });
    made.dispose();
    // Crafts the first command of the list at once where its ingredients were got, which is right in some of the shallow tasks.
    server = await startOpenAiServer(({ input }) => ({ content: nextCraft(input) }));
    store = startRetrace(['store', '--port', '0', ...data]);
    await store.waitFor(/store at (http:\S+);/);
  });
  afterAll(async () => {
    await server.close();
    await store.stop('SIGTERM');
    directory.remove();
  });

  it('reports success, intervals, pass@k and families of agents and an endpoint as they follow from the stored episodes', async () => {
    const endpoint = `openai:${server.url}#crafter`;
    const policies = ['random', 'expert', endpoint].flatMap((name) => ['--policy', name]);
    const where = ['--environment', 'crafting', '--tasks', '12', '--attempts', '3'];
    const report = await json<Report>('play', ...where, ...policies);
    const outcomes = await outcomesOf(report);
    for (const [policy, played] of outcomes) {
      expect(played).toHaveLength(36);
      const rows = report.rows.filter((row) => row.policy === policy);
      const all = rows.find(({ family }) => family === null);
      expect(all).toMatchObject({ numTasks: 12, numEpisodes: 36, numFailed: 0 });
      expect(all?.numSuccesses).toBe(played.filter(({ success }) => success).length);
      expect(all?.passAtK.map(({ k }) => k)).toEqual([1, 2, 3]);
      for (const { k, pass } of all?.passAtK ?? [])
        expect(pass).toBeCloseTo(passByEnumeration(played, k), 12);
      const families = new Set(played.map(({ family }) => family));
      for (const name of families) {
        const own = played.filter(({ family }) => family === name);
        const row = rows.find(({ family }) => family === name);
        expect(row?.successRate).toBeCloseTo(own.filter(({ success }) => success).length / own.length, 12);
      }
      expect(rows).toHaveLength(1 + families.size);
    }
    expect(outcomes.get('expert')?.every(({ success }) => success)).toBe(true);
    expect(report.comparisons).toHaveLength(3);
  });

  it(
    'compares two policies on the same tasks as McNemar’s test and Bonett’s and Price’s interval do',
    { tags: 'release' },
    async () => {
      const where = [
        '--environment',
        'crafting',
        '--tasks',
        '40',
        '--policy',
        'random',
        '--policy',
        'expert',
      ];
      const report = await json<Report>('play', ...where);
      const outcomes = await outcomesOf(report);
      const byTask = (policy: string) =>
        new Map(outcomes.get(policy)?.map(({ task, success }) => [task, success]));
      const [random, expert] = [byTask('random'), byTask('expert')];
      const pairs = [...random].map(([task, success]) => [Number(success), Number(expert.get(task))]);
      const [pair] = report.comparisons;
      const onlyFirst = pairs.filter(([first, second]) => first > second).length;
      const onlySecond = pairs.filter(([first, second]) => first < second).length;
      expect(pair).toMatchObject({ numTasks: 40, numOnlyFirst: onlyFirst, numOnlySecond: onlySecond });
      expect(pair.difference).toBeCloseTo((onlySecond - onlyFirst) / 40, 12);
      // Twice the tail of a fair coin's binomial, at most 1.
      const n = onlyFirst + onlySecond;
      let tail = 0;
      for (let k = 0; k <= Math.min(onlyFirst, onlySecond); k++) tail += choose(n, k) / 2 ** n;
      expect(pair.pValue).toBeCloseTo(Math.min(1, 2 * tail), 12);
      // With a task more that only the one solved, and one that only the other did.
      const [first, second] = [(onlyFirst + 1) / 42, (onlySecond + 1) / 42];
      const half = 1.959964 * Math.sqrt((first + second - (second - first) ** 2) / 42);
      expect(pair.differenceLow).toBeCloseTo(Math.max(-1, second - first - half), 5);
      expect(pair.differenceHigh).toBeCloseTo(Math.min(1, second - first + half), 5);
      const row = report.rows.find(({ policy, family }) => policy === 'random' && family === null);
      expectWilson(row, 40);
    },
  );

  it(
    'plays a model directory, greedy alike each time and sampled otherwise',
    { tags: 'release' },
    async () => {
      const play = (...options: readonly string[]) =>
        json<Report>('play', '--environment', 'bandit', '--tasks', '4', '--policy', model, ...options);
      const actions = async ({ runs: [{ runId }] }: Report) => {
        const query = `SELECT action FROM steps WHERE run_id = '${runId}' ORDER BY episode_id`;
        return (await json<{ action: string }[]>('sql', query)).map(({ action }) => action);
      };
      const [first, second] = [await actions(await play('--greedy')), await actions(await play('--greedy'))];
      expect(first).toHaveLength(4);
      expect(second).toEqual(first);
      const sampled = await actions(await play('--attempts', '2'));
      expect(new Set(sampled).size).toBe(8);
    },
  );
});

/** The last command of the list that the first message shows, or what it takes. */
function nextCraft(input: readonly Readonly<Record<string, unknown>>[]): string {
  const text = input.map(({ content }) => JSON.stringify(content)).join('\n');
  const commands = [...text.matchAll(/craft \d+ [a-z ]+ using [a-z0-9, ]+/g)].map(([command]) =>
    command.trim(),
  );
  const goal = /Goal: craft ([a-z ]+)\./.exec(text)?.[1];
  const command = commands.find((one) => one.includes(` ${goal} using `)) ?? 'inventory';
  const taken = (command.split(' using ')[1] ?? '').split(', ');
  const next = taken.find((portion) => !text.includes(`Got ${portion}`));
  return next === undefined || text.includes('Could not find') ? command : `get ${next}`;
}

/** Chance that one of k attempts at a task succeeds: the share of all sets of k attempts with a success, averaged over tasks. */
function passByEnumeration(played: readonly Played[], k: number): number {
  const tasks = [...new Set(played.map(({ task }) => task))];
  const shares = tasks.map((task) => {
    const outcomes = played.filter((one) => one.task === task).map(({ success }) => success);
    const sets = subsets(outcomes, k);
    return sets.filter((set) => set.includes(true)).length / sets.length;
  });
  return shares.reduce((sum, share) => sum + share, 0) / tasks.length;
}

function subsets<T>(items: readonly T[], k: number): T[][] {
  if (k === 0) return [[]];
  return items.flatMap((item, place) =>
    subsets(items.slice(place + 1), k - 1).map((others) => [item, ...others]),
  );
}

function choose(n: number, k: number): number {
  let ways = 1;
  for (let i = 0; i < k; i++) ways = (ways * (n - i)) / (i + 1);
  return ways;
}

/** The ends p of Wilson's interval solve (p − rate)² = z² p (1 − p) / n. */
function expectWilson(row: Row | undefined, n: number): void {
  const z = 1.959963984540054;
  expect(row).toBeDefined();
  for (const p of [row?.successLow ?? NaN, row?.successHigh ?? NaN]) {
    expect((p - (row?.successRate ?? NaN)) ** 2).toBeCloseTo((z ** 2 * p * (1 - p)) / n, 10);
  }
}
