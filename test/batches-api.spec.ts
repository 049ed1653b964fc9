import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC, type Table } from 'apache-arrow';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiFixture } from '../apps/api/src/testing/api-fixture.js';
import { installation } from '../apps/cli/src/installation.js';
import { InProcessRun } from './support/in-process-run.js';

const NUM_UPDATES = 2;
const SETTINGS = [
  ...['collection.groupsPerRound=4', 'collection.groupSize=4', 'optimizer.miniBatchActionTokens=32'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'checkpoint.keepEvery=100'],
];
const SCRIPT = installation.program('questions');
const PLAIN_GRPO = 'advantage={"estimator":"grpo","options":{}}';

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly rule: string }[];
}

let directory: string;
let run: InProcessRun;
let fixture: ApiFixture;

beforeAll(async () => {
  await openBackend();
  directory = await mkdtemp(join(tmpdir(), 'retrace-batches-api-'));
  // Files of batches that other specs ask for are elsewhere.
  vi.stubEnv('TMPDIR', directory);
  const recipe = resolveRecipe('memory-bandit-grpo', { numUpdates: NUM_UPDATES, assignments: SETTINGS });
  run = await InProcessRun.begin(directory, recipe);
  await run.work();
  fixture = await ApiFixture.start({
    RETRACE_LOG_DIRECTORY: join(directory, 'log'),
    RETRACE_CHECKPOINT_DIRECTORY: join(directory, 'checkpoints'),
    RETRACE_QUESTIONS_SCRIPT: SCRIPT,
  });
  await until(`SELECT count() = ${NUM_UPDATES} FROM updates WHERE applied_at IS NOT NULL`);
});

afterAll(async () => {
  await fixture.close();
  await run.close();
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

async function sql(query: string): Promise<unknown[][]> {
  const answer = (await (await fixture.post('/api/sql', { query, maxRows: 10_000 })).json()) as {
    readonly rows: unknown[][];
  };
  return answer.rows;
}

async function until(query: string): Promise<void> {
  while ((await sql(query).catch(() => [])).at(0)?.[0] !== 1) await sleep(100);
}

const path = (runId = run.id) => `/api/runs/${runId}/batches`;

async function batchOf(body: object, runId = run.id): Promise<Table> {
  const response = await fixture.post(path(runId), body);
  if (response.status !== 200) throw new Error(await response.text());
  expect(response.headers.get('content-type')).toBe('application/vnd.apache.arrow.stream');
  return tableFromIPC(new Uint8Array(await response.arrayBuffer()));
}

async function refusalOf(body: object, runId = run.id): Promise<Problem & { readonly status: number }> {
  const response = await fixture.post(path(runId), body);
  return { ...((await response.json()) as Problem), status: response.status };
}

/** The lists of a column, by row. */
function listsOf(table: Table, name: string): number[][] {
  const column = table.getChild(name);
  if (column === null) throw new Error(`the batch has no column ${name}`);
  return Array.from(column, (list: Iterable<number>) => [...list]);
}

const textsOf = (table: Table, name: string): string[] =>
  Array.from(table.getChild(name) ?? [], (text) => text as string);

/** The values of a column at the tokens that count. */
function countedOf(table: Table, name: string): number[][] {
  const mask = listsOf(table, 'loss_mask');
  return listsOf(table, name).map((list, row) => list.filter((_, n) => mask[row][n] === 1));
}

/** (R − mean) / standard deviation within the groups: GRPO, equation 3 of DeepSeekMath. */
function groupScores(groups: readonly string[], rewards: readonly number[]): number[] {
  return rewards.map((reward, row) => {
    const members = rewards.filter((_, other) => groups[other] === groups[row]);
    const mean = members.reduce((sum, each) => sum + each, 0) / members.length;
    const variance = members.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (members.length - 1);
    return variance === 0 ? 0 : (reward - mean) / (Math.sqrt(variance) + 1e-6);
  });
}

describe('the batch of an update that was committed', () => {
  it('has the tokens that the store has, and advantages and weights as the update read them', async () => {
    const batch = await batchOf({ updateNumber: 2 });
    const inputs = await sql(
      `SELECT episode_id FROM update_inputs WHERE update_number = 2 AND run_id = '${run.id}'`,
    );
    const episodes = textsOf(batch, 'episode_id');
    expect([...episodes].sort()).toEqual(inputs.map(([id]) => id as string).sort());
    const steps = (columns: string) =>
      sql(`SELECT episode_id, groupArray(${columns}) FROM (
        SELECT * FROM steps WHERE run_id = '${run.id}' ORDER BY episode_id, step) GROUP BY episode_id`);
    const stored = new Map(await steps('token_ids').then((rows) => rows as [string, number[][]][]));
    expect(listsOf(batch, 'token_ids')).toEqual(episodes.map((id) => stored.get(id)?.flat()));
    const logprobs = new Map(await steps('token_logprobs').then((rows) => rows as [string, number[][]][]));
    const expected = episodes.map((id) => logprobs.get(id)?.flat() ?? []);
    for (const [row, list] of listsOf(batch, 'behavior_logprobs').entries())
      for (const [n, logprob] of list.entries()) expect(logprob).toBeCloseTo(expected[row][n], 6);
    const { everyToken } = (await run.whatIf({ from: 2 })).updates[0];
    const advantages = countedOf(batch, 'advantages');
    expect(new Map(episodes.map((id, row) => [id, advantages[row]]))).toEqual(
      new Map(everyToken?.map(({ episodeId, recordedAdvantages }) => [episodeId, recordedAdvantages])),
    );
    expect(batch.getChild('values')).toBeNull();
    const said = JSON.parse(batch.schema.metadata.get('retrace') ?? '{}') as object;
    expect(said).toMatchObject({ updateNumber: 2, policyVersionIn: 1, estimator: 'grpo', numEpisodes: 16 });
  });

  it('is computed by another estimator, where one is asked for', { tags: 'release' }, async () => {
    const batch = await batchOf({ updateNumber: 1, set: [PLAIN_GRPO] });
    const rewards = Array.from(batch.getChild('reward') ?? [], Number);
    const expected = groupScores(textsOf(batch, 'group_id'), rewards);
    countedOf(batch, 'advantages').forEach((list, row) => {
      expect(list).toHaveLength(8);
      for (const advantage of list) expect(advantage).toBeCloseTo(expected[row], 4);
    });
    expect(new Set(expected.map(Math.sign)).size).toBeGreaterThan(1);
  });

  it(
    'takes changes that are valid only together: RLOO, the reward less the mean of the others',
    { tags: 'release' },
    async () => {
      const batch = await batchOf({
        updateNumber: 1,
        set: ['advantage.estimator=rloo', 'advantage.options={}'],
      });
      const rewards = Array.from(batch.getChild('reward') ?? [], Number);
      const groups = textsOf(batch, 'group_id');
      countedOf(batch, 'advantages').forEach(([advantage], row) => {
        const others = rewards.filter((_, other) => other !== row && groups[other] === groups[row]);
        const mean = others.reduce((sum, each) => sum + each, 0) / others.length;
        expect(advantage).toBeCloseTo(rewards[row] - mean, 5);
      });
    },
  );

  it(
    'asks the policy where the loss reads of it what was not recorded: here the first one, which sampled too',
    { tags: 'release' },
    async () => {
      const batch = await batchOf({ updateNumber: 1, set: ['loss.kl.coefficient=0.1'] });
      const sampled = countedOf(batch, 'behavior_logprobs');
      countedOf(batch, 'reference_logprobs').forEach((list, row) => {
        list.forEach((logprob, n) => expect(logprob).toBeCloseTo(sampled[row][n], 4));
      });
    },
  );
});

describe('a batch of groups that are drawn', () => {
  const groupsOf = async (body: object) => [...new Set(textsOf(await batchOf(body), 'group_id'))];

  it('has whole groups, the same for the same seed', { tags: 'release' }, async () => {
    const batch = await batchOf({ groups: 2, seed: 7 });
    const groups = textsOf(batch, 'group_id');
    expect(groups).toHaveLength(8);
    expect(new Set(groups).size).toBe(2);
    expect(textsOf(await batchOf({ groups: 2, seed: 7 }), 'group_id')).toEqual(groups);
    expect(await groupsOf({ groups: 2, seed: 8 })).not.toEqual([...new Set(groups)]);
  });

  it('has the newest, and what a condition takes', { tags: 'release' }, async () => {
    const newest = await sql(
      `SELECT group_id FROM episodes WHERE run_id = '${run.id}' GROUP BY group_id ORDER BY max(started_at) DESC, group_id LIMIT 1`,
    );
    expect(await groupsOf({ groups: 1, order: 'newest' })).toEqual(newest.flat());
    const [[episodeId]] = await sql(`SELECT min(episode_id) FROM episodes WHERE run_id = '${run.id}'`);
    const one = await batchOf({ where: `episode_id = '${episodeId as string}'` });
    expect(textsOf(one, 'episode_id')).toEqual([episodeId]);
  });

  it.each([
    [{ where: "split = 'test'" }, 409, 'NO_EPISODES', /that `where` takes \(split = 'test'\)/],
    [{ where: '1 FROM episodes; DROP TABLE events' }, 422, 'SQL_REFUSED', /./],
    [{ where: 'colour = 1' }, 422, 'SQL_FAILED', /colour/],
  ])('runs its condition as user SQL: %j', async (body, status, code, detail) => {
    expect(await refusalOf(body)).toMatchObject({
      status,
      code,
      detail: expect.stringMatching(detail) as string,
    });
  });
});

describe('a batch that nobody waits for any more', () => {
  const files = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('retrace-batch-'));

  it(
    'ends with its request, makes room for the next one, and leaves no file',
    { tags: 'release' },
    async () => {
      const asked = fetch(`${fixture.api.url}${path()}`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"groups":2}' },
        signal: AbortSignal.timeout(100),
      });
      await expect(asked).rejects.toThrow(/timeout/);
      expect((await batchOf({ groups: 1 })).numRows).toBe(4);
      await expect.poll(files).toEqual([]);
    },
  );
});

describe('a batch that is asked for wrongly', () => {
  it.each([
    [{ updateNumber: 3 }, 'updateNumber', 'updateNumber must be a committed update, 1 to 2, got 3'],
    [
      { updateNumber: 1, groups: 2 },
      'groups',
      'groups must be absent with updateNumber, which has its episodes',
    ],
    [{ temperature: 0.7 }, 'temperature', /its recipe has it/],
    [{ temperature: 20 }, 'temperature', 'temperature must be from 0.01 to 10, got 20'],
    [{ where: "run_id != '') OR (true" }, 'where', /must be one condition/],
    [{ where: '(true' }, 'where', /must be one condition/],
    [
      { set: ['advantage.estimator=rloo', 'advantage.options={}', 'loss.clipLow=-1'] },
      'set.2',
      /loss\.clipLow/,
    ],
    [{ groups: 0 }, 'groups', 'groups must be an integer from 1 to 4096, got 0'],
    [{ order: 'best' }, 'order', 'order must be random or newest, got best'],
    [{ set: ['loss.clipLow=-1'] }, 'set.0', /loss\.clipLow/],
    [{ set: ['model.numLayers=9'] }, 'set.0', /can't be changed/],
    [{ rewardVersion: 'other' }, 'rewardVersion', /score it first/],
  ])('is refused with field and rule: %j', async (body, field, rule) => {
    const { status, errors } = await refusalOf(body);
    expect(status).toBe(400);
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({ field, rule: expect.stringMatching(rule) as string });
  });
});

describe('a batch of a run that was recorded', () => {
  const REWARDS = [
    [1, 0],
    [0.25, 0.75],
  ];
  let recordedId: string;

  beforeAll(async () => {
    recordedId = await record();
  });

  interface Recorded {
    readonly logprobMode?: string;
    /** Whether one episode was played greedily. */
    readonly withGreedy?: boolean;
    /** Episodes that a group is said to have (default as many as there are). */
    readonly groupSize?: number;
    /** Whether the second episode of each group was abandoned. */
    readonly isCutOff?: boolean;
  }

  /** @returns the run's id */
  async function record({
    logprobMode = 'processed',
    withGreedy = false,
    groupSize = 2,
    isCutOff = false,
  }: Recorded = {}): Promise<string> {
    const answer = await fixture.post('/api/runs', { name: 'agent' });
    const { runId } = (await answer.json()) as { runId: string };
    const records = REWARDS.flatMap((members, group) =>
      members.flatMap((reward, member) => {
        const episode = `g${group}-${member}`;
        const [ids, mask, logprobs] = [
          [5, 6, 7 + member],
          [0, 0, 1],
          [null, null, -0.5 - group],
        ];
        const tokens = { ids, mask, logprobs, keptPrefix: 0 };
        const sampling = { temperature: 0.7, greedy: withGreedy && group === 0 && member === 0 };
        const step = { observation: 'a', action: 'b', reward, tokens, sampling, logprobMode };
        return [
          { type: 'episode', episode, groupId: `group ${group}`, groupSize, environment: 'own', task: {} },
          { type: 'step', episode, step: 0, ...step },
          ...(isCutOff && member === 1
            ? [{ type: 'end', episode, endReason: 'abandoned', detail: 'cut off' }]
            : [{ type: 'end', episode, success: reward > 0.5 }]),
        ];
      }),
    );
    const response = await fixture.post(`/api/runs/${runId}/records`, records);
    expect(await response.text()).toContain('"accepted":12');
    await until(`SELECT count() = 4 FROM episodes WHERE run_id = '${runId}' AND sealed`);
    return runId;
  }

  it('has advantages within its groups, by the rewards that were recorded', { tags: 'release' }, async () => {
    const batch = await batchOf({ temperature: 0.7 }, recordedId);
    const rewards = Array.from(batch.getChild('reward') ?? [], Number);
    expect([...rewards].sort()).toEqual([0, 0.25, 0.75, 1]);
    const expected = groupScores(textsOf(batch, 'group_id'), rewards);
    for (const [row, [advantage]] of countedOf(batch, 'advantages').entries())
      expect(advantage).toBeCloseTo(expected[row], 4);
    expect(listsOf(batch, 'loss_mask')).toEqual(Array(4).fill([0, 0, 1]));
  });

  it(
    'leaves out what was played greedily, and groups that are not complete',
    { tags: 'release' },
    async () => {
      const batch = await batchOf({ temperature: 0.7 }, await record({ withGreedy: true }));
      expect(Array.from(batch.getChild('reward') ?? [], Number).sort()).toEqual([0, 0.25, 0.75]);
      for (const incomplete of [{ groupSize: 3 }, { isCutOff: true }])
        expect(await refusalOf({}, await record(incomplete))).toMatchObject({ code: 'NO_EPISODES' });
    },
  );

  it('says what it can not be made of', { tags: 'release' }, async () => {
    const hot = await refusalOf({}, recordedId);
    expect(hot).toMatchObject({ status: 409, code: 'BATCH_FAILED' });
    expect(hot.detail).toMatch(/sampled at temperature 0\.7.*must be 1 \(UNACCOUNTED_LOGPROBS\)/);
    const critic = await refusalOf({ temperature: 0.7, set: ['loss.topEntropyFraction=0.2'] }, recordedId);
    expect(critic).toMatchObject({ status: 409, code: 'BATCH_FAILED' });
    expect(critic.detail).toMatch(/there is no policy that could compute them.*\(ENGINE_NEEDED\)/);
    const kl = await refusalOf({ temperature: 0.7, set: ['loss.kl.coefficient=0.1'] }, recordedId);
    expect(kl.detail).toMatch(/a recorded run has none; must be 0 \(ENGINE_NEEDED\)/);
    const none = await refusalOf({ updateNumber: 1 }, recordedId);
    expect(none.detail).toBe('updateNumber must be a committed update; the run has none yet, got 1');
    const raw = await refusalOf({}, await record({ logprobMode: 'raw' }));
    expect(raw).toMatchObject({ status: 409, code: 'NO_EPISODES' });
    expect(raw.detail).toMatch(/may be trained on; left out: 4 for "logprobs before temperature"$/);
  });
});
