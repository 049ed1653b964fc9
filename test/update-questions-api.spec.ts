import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { createStoreClient } from '@retrace/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApiConfig } from '../apps/api/src/config/api-config.js';
import { startApiServer } from '../apps/api/src/server.js';
import { ApiFixture } from '../apps/api/src/testing/api-fixture.js';
import { installation } from '../apps/cli/src/installation.js';
import type { Replay } from '../apps/api/src/replays/replays.dto.js';
import type { WhatIf } from '../apps/api/src/what-ifs/what-ifs.dto.js';
import { InProcessRun } from './support/in-process-run.js';

const NUM_UPDATES = 3;
const SETTINGS = [
  ...[
    'collection.groupsPerRound=4',
    'collection.groupSize=4',
    'optimizer.miniBatchActionTokens=32',
    'evaluation.everyUpdates=0',
  ],
  ...['evaluation.numTestEpisodes=0', 'checkpoint.keepEvery=100', 'loss.entropyCoefficient=0'],
];
const SCRIPT = installation.program('questions');
const END_MS = 90_000;

interface Problem {
  readonly code: string;
  readonly errors?: readonly { readonly field: string; readonly value: unknown; readonly rule: string }[];
}

let directory: string;
let run: InProcessRun;
let fixture: ApiFixture;
let checkpointsBefore: string[];

beforeAll(async () => {
  await openBackend();
  directory = await mkdtemp(join(tmpdir(), 'retrace-questions-api-'));
  run = await InProcessRun.begin(
    directory,
    resolveRecipe('memory-bandit-grpo', { numUpdates: NUM_UPDATES, assignments: SETTINGS }),
  );
  await run.work();
  checkpointsBefore = await readdir(join(directory, 'checkpoints'));
  fixture = await ApiFixture.start({
    RETRACE_LOG_DIRECTORY: join(directory, 'log'),
    RETRACE_CHECKPOINT_DIRECTORY: join(directory, 'checkpoints'),
    RETRACE_QUESTIONS_SCRIPT: SCRIPT,
  });
  await untilStored();
});

afterAll(async () => {
  await fixture.close();
  await run.close();
  await rm(directory, { recursive: true });
});

async function untilStored(): Promise<void> {
  for (;;) {
    const { items } = await fixture
      .getJson<{ items: { appliedAt: string | null }[] }>(`/api/runs/${run.id}/updates`)
      .catch(() => ({ items: [] }));
    if (items.filter(({ appliedAt }) => appliedAt !== null).length === NUM_UPDATES) return;
    await sleep(100);
  }
}

const path = () => `/api/runs/${run.id}/what-ifs`;

async function ask(body: unknown): Promise<WhatIf> {
  const response = await fixture.post(path(), body);
  const answer: unknown = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(answer));
  return answer as WhatIf;
}

async function answerOf({ whatIfId }: WhatIf): Promise<WhatIf> {
  const deadline = Date.now() + END_MS;
  for (;;) {
    const whatIf = await fixture.getJson<WhatIf>(`${path()}/${whatIfId}`);
    if (whatIf.endedAt !== null) return whatIf;
    if (Date.now() > deadline) throw new Error(`still ${whatIf.status}`);
    await sleep(100);
  }
}

async function cancel({ whatIfId }: WhatIf): Promise<WhatIf> {
  const response = await fixture.patch(`${path()}/${whatIfId}`, { status: 'cancelled' });
  expect(response.status).toBe(200);
  return (await response.json()) as WhatIf;
}

/** As JSON has it, in which NaN is null. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a what-if over HTTP', () => {
  it('is what the library answers for a range of updates, and writes no checkpoint', async () => {
    const set = ['loss.clipLow=0.001', 'loss.clipHigh=0.001'];
    const asked = await ask({ updateNumber: 1, toUpdate: 2, set });
    expect(asked).toMatchObject({ runId: run.id, updateNumber: 1, toUpdate: 2, set, updates: [] });
    const answer = await answerOf(asked);
    expect(answer).toMatchObject({ status: 'finished', failure: null, numCompared: 2 });
    const { updates } = await run.whatIf({ from: 1, to: 2 }, ...set);
    const expected = updates.map((update) => ({ ...update, everyToken: null }));
    expect(answer.updates).toEqual(asJson(expected));
    expect(await readdir(join(directory, 'checkpoints'))).toEqual(checkpointsBefore);
  });

  it('lists every token of one update, side by side, with the clips of its optimizer steps', async () => {
    const set = ['loss.clipLow=0.001', 'loss.clipHigh=0.001'];
    const { updates, status } = await answerOf(await ask({ updateNumber: 2, set, withTokens: true }));
    expect(status).toBe('finished');
    const [{ everyToken, metrics, episodes }] = updates;
    expect(everyToken?.map(({ episodeId }) => episodeId)).toEqual(episodes.map(({ episodeId }) => episodeId));
    const clip = metrics.find(({ name }) => name === 'train/clipFraction');
    const shareOf = (field: 'recordedClips' | 'changedClips') => {
      const clips = everyToken?.flatMap((tokens) => tokens[field]) ?? [];
      return clips.reduce((sum, share) => sum + share, 0) / clips.length;
    };
    // Every token is trained once in each epoch; mini-batches differ a little in size.
    expect(shareOf('changedClips')).toBeCloseTo(clip?.changed ?? NaN, 1);
    expect(shareOf('changedClips')).toBeGreaterThan(shareOf('recordedClips'));
  });

  it('is listed, newest first, until the server stops', async () => {
    const { items } = await fixture.getJson<{ items: WhatIf[] }>(path());
    expect(items.map(({ status, numCompared }) => ({ status, numCompared }))).toEqual([
      { status: 'finished', numCompared: 1 },
      { status: 'finished', numCompared: 2 },
    ]);
    const page = await fixture.getJson<{ items: WhatIf[]; nextCursor: string }>(`${path()}?limit=1`);
    const rest = await fixture.getJson<{ items: WhatIf[] }>(`${path()}?limit=1&cursor=${page.nextCursor}`);
    expect([...page.items, ...rest.items]).toEqual(items);
  });

  it.each([
    [{ updateNumber: 0 }, 'updateNumber', /an integer from 1 to/],
    [{ updateNumber: 9 }, 'updateNumber', /a committed update, 1 to 3, got 9/],
    [{ updateNumber: 2, toUpdate: 1 }, 'toUpdate', /at least updateNumber, 2, got 1/],
    [{ updateNumber: 2, toUpdate: 4 }, 'toUpdate', /a committed update, 1 to 3, got 4/],
    [{ updateNumber: 1, toUpdate: 2, withTokens: true }, 'withTokens', /false for several updates/],
    [{ updateNumber: 1, set: ['loss.clipLow'] }, 'set.0', /must be key=value/],
    [{ updateNumber: 1, set: ['loss.clipHigh=0.3', 'loss.clipLow=-1'] }, 'set.1', /clipLow/],
    [{ updateNumber: 1, set: ['collection.temperature=0.5'] }, 'set.0', /collection can't be changed/],
    [{ updateNumber: 1, set: 'loss.clipLow=1' }, 'set', /texts such as/],
    [
      { updateNumber: 1, set: ['reward.components=[{"module":"/etc/own.mjs"}]'] },
      'set.0',
      /no other file is loaded/,
    ],
    [{ updateNumber: 1, rewardVersion: 'other' }, 'rewardVersion', /score it first/],
    [{ updateNumber: 1, clip: 1 }, 'clip', /Unknown parameter/],
  ])('is refused with field, value and rule: %j', async (body, field, rule) => {
    const response = await fixture.post(path(), body);
    expect(response.status).toBe(400);
    const { code, errors } = (await response.json()) as Problem;
    expect(code).toBe('INVALID_REQUEST');
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({ field, rule: expect.stringMatching(rule) as string });
    expect(errors?.[0]).toHaveProperty('value');
  });

  it('is not found for another run, and not computed for one that is not there', async () => {
    const other = crypto.randomUUID();
    expect((await fixture.post(`/api/runs/${other}/what-ifs`, { updateNumber: 1 })).status).toBe(404);
    expect((await fixture.get(`${path()}/${other}`)).status).toBe(404);
  });

  it('runs alone: others wait, a fifth that would wait is refused, and each can be cancelled', async () => {
    const asked = [];
    for (let n = 0; n < 5; n++) asked.push(await ask({ updateNumber: 1, toUpdate: 3 }));
    const refused = await fixture.post(path(), { updateNumber: 1 });
    expect(refused.status).toBe(429);
    expect(((await refused.json()) as Problem).code).toBe('TOO_MANY_QUESTIONS');
    expect(asked.map(({ status }) => status)).toEqual(['running', 'queued', 'queued', 'queued', 'queued']);
    // The second to the fourth are cancelled while they wait, the first while it is computed; then the fifth is.
    for (const whatIf of [...asked.slice(1, 4), asked[0]])
      expect(await cancel(whatIf)).toMatchObject({ status: 'cancelled', failure: null });
    const last = await answerOf(asked[4]);
    expect(last).toMatchObject({ status: 'finished', numCompared: 3 });
    expect(await cancel(last)).toEqual(last);
    const unknown = await fixture.patch(`${path()}/${last.whatIfId}`, { status: 'finished' });
    expect(unknown.status).toBe(400);
    expect(((await unknown.json()) as Problem).errors?.[0].rule).toMatch(/must be cancelled, got finished$/);
    const statuses = await Promise.all(asked.map(async (whatIf) => (await answerOf(whatIf)).status));
    expect(statuses).toEqual([...Array<string>(4).fill('cancelled'), 'finished']);
  });
});

describe('a what-if under a reward version', () => {
  const VERSION = 'ab'.repeat(32);

  /** Scores each episode with the opposite of its rewards, as `retrace score` would write them. */
  async function scoreNegated(): Promise<void> {
    const client = createStoreClient({
      url: fixture.store.url,
      username: 'retrace',
      password: fixture.environment.RETRACE_STORE_PASSWORD,
    });
    const params = { runId: run.id, version: VERSION };
    await client.command(
      "INSERT INTO reward_definitions VALUES ({runId:String}, {version:String}, 'negated', '[]', now64(6))",
      { params },
    );
    await client.command(
      `INSERT INTO reward_scores (run_id, reward_version, episode_id, scored_at, total, episode_reward, step_rewards)
       SELECT {runId:String}, {version:String}, episode_id, now64(6), -sum(reward), 0,
         arrayMap(each -> -each.2, arraySort(groupArray((step, ifNull(reward, 0)))))
       FROM steps WHERE run_id = {runId:String} GROUP BY episode_id`,
      { params },
    );
    await client.close();
  }

  it('takes its scores: with the opposite of the rewards the gradient is the opposite one', async () => {
    await scoreNegated();
    const refused = await fixture.post(path(), { updateNumber: 1, rewardVersion: 'negatd' });
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as Problem).errors?.[0].rule).toMatch(/got "negatd"; such as negated$/);
    const rewardVersion = VERSION.slice(0, 6);
    const { updates, ...answer } = await answerOf(await ask({ updateNumber: 1, rewardVersion }));
    expect(answer).toMatchObject({ status: 'finished', failure: null, rewardVersion });
    const [{ gradient, episodes }] = updates;
    expect(gradient.cosine).toBeCloseTo(-1, 6);
    for (const { recordedReward, changedReward } of episodes)
      expect((changedReward ?? NaN) + (recordedReward ?? NaN)).toBe(0);
  });
});

describe('a replay over HTTP', () => {
  const replays = () => `/api/runs/${run.id}/replays`;

  async function replayOf(updateNumber: number): Promise<Replay> {
    const asked = (await (await fixture.post(replays(), { updateNumber })).json()) as Replay;
    expect(asked).toMatchObject({ runId: run.id, updateNumber, result: null, failure: null });
    const deadline = Date.now() + END_MS;
    for (;;) {
      const replay = await fixture.getJson<Replay>(`${replays()}/${asked.replayId}`);
      if (replay.endedAt !== null) return replay;
      if (Date.now() > deadline) throw new Error(`still ${replay.status}`);
      await sleep(100);
    }
  }

  it('is what the library answers, bit for bit, and writes no checkpoint', async () => {
    const { status, result } = await replayOf(2);
    expect(status).toBe('finished');
    expect(result).toMatchObject({ isReproduced: true, lossDifference: 0, sameWeights: true });
    expect(result).toEqual(asJson(await run.replay(2)));
    expect(await readdir(join(directory, 'checkpoints'))).toEqual(checkpointsBefore);
  });

  it('is refused with field, value and rule, is no what-if, and stays as it is once it has ended', async () => {
    const refused = await fixture.post(replays(), { updateNumber: 9 });
    expect(refused.status).toBe(400);
    const { errors } = (await refused.json()) as Problem;
    const rule = 'updateNumber must be a committed update, 1 to 3, got 9';
    expect(errors).toEqual([{ field: 'updateNumber', value: 9, rule }]);
    const replay = await replayOf(1);
    expect((await fixture.get(`${path()}/${replay.replayId}`)).status).toBe(404);
    const kept = await fixture.patch(`${replays()}/${replay.replayId}`, { status: 'cancelled' });
    expect(await kept.json()).toEqual(replay);
  });
});

describe('a server that computes no what-ifs', () => {
  it('says so, and what does', async () => {
    const log = { RETRACE_LOG_DIRECTORY: join(directory, 'log'), RETRACE_SINK: 'off' };
    const without = await startApiServer(readApiConfig({ ...fixture.environment, ...log }));
    await without.storeReady;
    const response = await fetch(`${without.url}${path()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ updateNumber: 1 }),
    });
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({
      code: 'QUESTIONS_UNAVAILABLE',
      detail: expect.stringContaining('retrace whatif') as string,
    });
    await without.close();
  });
});
