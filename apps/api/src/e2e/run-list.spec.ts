import { randomBytes } from 'node:crypto';
import { appendEvents } from '@retrace/log/testing';
import { newRunId, type PayloadOf } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../paging/page.js';
import type { ProblemBody } from '../problems/problem.js';
import type { RunDetail, RunListItem } from '../runs/runs.dto.js';
import { ApiFixture } from '../testing/api-fixture.js';

const NOW_US = Date.now() * 1000;
const HOUR_US = 3_600_000_000;
const SECOND_US = 1_000_000;

let fixture: ApiFixture;
const ids = new Map<string, string>();
const NO_USAGE = { inputTokens: null, cachedInputTokens: null, outputTokens: null, reasoningTokens: null };
const LONG = '漢'.repeat(256);

interface Given {
  readonly started?: Partial<PayloadOf<'RunStarted'>>;
  readonly startedAtUs: number;
  /** When each update logged its metrics, and what. */
  readonly updates?: readonly (readonly [atUs: number, metrics: Readonly<Record<string, number>>])[];
  readonly ended?: 'finished' | 'failed';
}

async function record(name: string, { started, startedAtUs, updates = [], ended }: Given): Promise<void> {
  const runId = newRunId({ nowMs: () => startedAtUs / 1000, randomBytes });
  ids.set(name, runId);
  const event = (
    ...[kind, payload]: Parameters<typeof controlEvent> extends [unknown, ...infer Rest] ? Rest : never
  ) => controlEvent({ logId: fixture.log.logId, runId }, kind, payload);
  await appendEvents(fixture.log, [
    { ...event('RunStarted', { name, tags: [], ...started }), occurredAtUs: startedAtUs },
    ...updates.map(([occurredAtUs, metrics], i) => ({
      ...event('MetricsLogged', {
        ...{ source: 'trainer', step: i + 1, names: Object.keys(metrics) },
        values: Float64Array.from(Object.values(metrics)),
      }),
      occurredAtUs,
    })),
    ...(ended === undefined
      ? []
      : [event('RunEnded', { reason: ended, detail: '', numUpdates: updates.length })]),
  ] as never);
}

const recipe = { numUpdates: 40, imitation: { numUpdates: 10 } } as never;

beforeAll(async () => {
  fixture = await ApiFixture.start();
  await record('Lake, first try', {
    ...{
      started: { environment: 'frozen-lake', recipe },
      startedAtUs: NOW_US - 50 * HOUR_US,
      ended: 'failed',
    },
    updates: [
      [NOW_US - 50 * HOUR_US, { 'validation/success': 0.9, 'train/loss': NaN }],
      [NOW_US - 49 * HOUR_US, { 'validation/success': 0.25 }],
    ],
  });
  await record('arms', {
    started: { environment: 'bandit', recipe, tags: ['nightly', 'paper'] },
    startedAtUs: NOW_US - 30 * HOUR_US,
    // Every ten seconds, with one pause of a day; the last ones in the future, so that it runs however long this takes.
    updates: Array.from({ length: 6 }, (_, i) => [
      NOW_US + (i < 3 ? -24 : 1) * HOUR_US + i * 10 * SECOND_US,
      { 'validation/success': ((0.1 + 0.2) * i) / 5, 'train/loss': 1 },
    ]),
  });
  await record('lake, second try', {
    ...{ started: { environment: 'frozen-lake', recipe }, startedAtUs: NOW_US - 3 * HOUR_US },
    updates: [[NOW_US - 2 * HOUR_US, { 'validation/success': 0.75, 'train/loss': 2 }]],
  });
  await record('support agent', {
    started: { runKind: 'recorded', recipe: null, recipeHash: '', environment: '', tags: ['prod'] },
    startedAtUs: NOW_US - HOUR_US,
  });
  const ends = [
    { numSteps: 1, ended: { success: true, return: 1 } },
    { numSteps: 2, ended: { success: false, return: 3 } },
    { numSteps: 2, ended: { success: null, return: null } },
  ] as const;
  const runId = ids.get('support agent') ?? '';
  for (const [ordinal, end] of ends.entries()) {
    const step = () => ({
      usage: { ...NO_USAGE, costUsd: ordinal === 0 ? 0.25 : ordinal === 1 ? 0.125 : null },
    });
    await appendEvents(
      fixture.log,
      episodeEvents({ logId: fixture.log.logId, runId, ordinal, ...end, step }),
    );
  }
  const ongoing = episodeEvents({ logId: fixture.log.logId, runId, ordinal: 3, numSteps: 1 }).slice(0, -1);
  await appendEvents(fixture.log, ongoing);
  const nameless = { started: { environment: LONG, recipe: {} as never }, ended: 'finished' } as const;
  await record(LONG, { ...nameless, startedAtUs: NOW_US - 60 * HOUR_US });
  await fixture.storeHasCaughtUp();
});

afterAll(async () => {
  await fixture?.close();
});

const pageOf = (query: string) => fixture.getJson<Page<RunListItem>>(`/api/runs?${query}`);
const namesOf = async (query: string) => (await pageOf(query)).items.map(({ name }) => name);
const ALL = ['support agent', 'lake, second try', 'arms', 'Lake, first try', LONG];

describe('the list of runs', () => {
  it('is sorted by start, by name, or by the newest value of a metric', async () => {
    expect(await namesOf('')).toEqual(ALL);
    expect(await namesOf('order=ascending')).toEqual(ALL.toReversed());
    expect(await namesOf('sort=name&order=ascending')).toEqual([
      'arms',
      'Lake, first try',
      'lake, second try',
      'support agent',
      LONG,
    ]);
    const byValidation = ['lake, second try', 'arms', 'Lake, first try', 'support agent', LONG];
    expect(await namesOf('sort=metric&metric=validation/success')).toEqual(byValidation);
    expect(await namesOf('sort=metric&metric=validation/success&order=ascending')).toEqual([
      ...byValidation.slice(0, 3).toReversed(),
      'support agent',
      LONG,
    ]);
    // What is not finite is no value.
    expect(await namesOf('sort=metric&metric=train/loss&order=ascending')).toEqual([
      'arms',
      'lake, second try',
      'support agent',
      'Lake, first try',
      LONG,
    ]);
  });

  it.each([
    ['search=lake', ['lake, second try', 'Lake, first try']],
    ['search=TRY%20%20frozen%20first', ['Lake, first try']],
    ['search=paper', ['arms']],
    ['search=100%25', []],
    ['tag=prod', ['support agent']],
    ['kind=trained', ALL.slice(1)],
    [
      'kind=trained&search=y&sort=metric&metric=validation/success',
      ['lake, second try', 'arms', 'Lake, first try'],
    ],
    ['status=idle&sort=metric&metric=train/loss', ['lake, second try', 'support agent']],
    ['tag=paper&status=running&sort=metric&metric=none/such', ['arms']],
    ['status=running', ['arms']],
    ['status=idle', ['support agent', 'lake, second try']],
    ['status=failed', ['Lake, first try']],
    ['status=idle&kind=trained&search=lake&sort=name', ['lake, second try']],
  ])('has what is asked for: %s', async (query, names) => {
    const { items } = await pageOf(query);
    expect(items.map(({ name }) => name)).toEqual(names);
    const status = new URLSearchParams(query).get('status');
    for (const item of items) if (status !== null) expect(item.status).toBe(status);
  });

  it('finds a run by a part of its id', async () => {
    expect(await namesOf(`search=${ids.get('arms')?.slice(-12)}`)).toEqual(['arms']);
  });

  it.each([
    'sort=name',
    'sort=name&order=ascending',
    'sort=metric&metric=validation/success',
    'sort=metric&metric=validation/success&order=ascending&kind=trained&search=r',
    // Without a value: two of them, and all of them.
    'sort=metric&metric=train/loss&order=ascending',
    'sort=metric&metric=none/such',
    'order=ascending',
    'search=a',
  ])('has pages: %s', async (query) => {
    const whole = await namesOf(query);
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await pageOf(`${query}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...page.items.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(whole);
  });

  it('says how far trained runs came, and how long the rest takes', async () => {
    const { items } = await pageOf('');
    expect(items.map(({ progress }) => progress)).toEqual([
      null,
      { updateNumber: 1, numUpdates: 50, secondsLeft: null },
      // The median of five times, one of them a pause.
      { updateNumber: 6, numUpdates: 50, secondsLeft: 440 },
      // It ended.
      { updateNumber: 2, numUpdates: 50, secondsLeft: null },
      // Nothing is trained in it.
      null,
    ]);
    const detail = await fixture.getJson<RunDetail>(`/api/runs/${ids.get('arms')}`);
    expect(detail.progress).toEqual(items[2].progress);
  });

  it('says of runs that agents record what their episodes came to', async () => {
    const { items } = await pageOf('');
    expect(items.map(({ recorded }) => recorded)).toEqual([
      { numEpisodes: 3, success: 0.5, meanReturn: 2, numSteps: 5, costUsd: 0.5 },
      ...Array.from({ length: 4 }, () => null),
    ]);
  });

  it.each([
    ['sort=metric', 'metric', 'must name a metric where sort is metric'],
    ['metric=a/b', 'metric', 'is only for lists whose sort is metric'],
    ['status=done', 'status', 'must be one of running, idle, finished, stopped, failed'],
    ['cursor=WzBd', 'cursor', 'must be the nextCursor of an earlier page of this list'],
  ])('refuses %s', async (query, field, rule) => {
    const response = await fixture.get(`/api/runs?${query}`);
    expect(response.status).toBe(400);
    const { errors } = (await response.json()) as ProblemBody;
    expect(errors).toEqual([expect.objectContaining({ field })]);
    expect(errors?.[0].rule).toContain(rule);
  });

  it('has pages whatever is asked for', async () => {
    const words = `search=${'e'.repeat(199)}%20&tag=${encodeURIComponent('漢'.repeat(200))}`;
    expect(await namesOf(words)).toEqual([]);
    const long = `sort=metric&metric=${'m'.repeat(200)}`;
    const { nextCursor } = await pageOf(`${long}&limit=1`);
    expect((await pageOf(`${long}&limit=1&cursor=${nextCursor}`)).items).toHaveLength(1);
  });

  it('refuses the cursor of another list', async () => {
    const { nextCursor } = await pageOf('limit=1&sort=name');
    expect((await fixture.get(`/api/runs?limit=1&cursor=${nextCursor}`)).status).toBe(400);
  });
});

describe('annotations of a run', () => {
  const change = async (name: string, body: object) => {
    const response = await fixture.patch(`/api/runs/${ids.get(name)}`, body);
    expect(response.status, await response.clone().text()).toBe(200);
    await fixture.storeHasCaughtUp();
  };
  const read = (name: string) => fixture.getJson<RunDetail>(`/api/runs/${ids.get(name)}`);

  it('replace what they name, and leave the rest as it was', async () => {
    expect(await read('arms')).toMatchObject({
      ...{ tags: ['nightly', 'paper'], notes: '', starred: false, archived: false },
    });
    await change('arms', { notes: 'The first\nthat learned 😀', starred: true });
    expect(await read('arms')).toMatchObject({
      ...{ tags: ['nightly', 'paper'], notes: 'The first\nthat learned 😀', starred: true, archived: false },
    });
    await change('arms', { tags: ['baseline'] });
    await change('arms', { notes: '' });
    expect(await read('arms')).toMatchObject({
      tags: ['baseline'],
      notes: '',
      starred: true,
      archived: false,
    });
    expect(await namesOf('starred=true')).toEqual(['arms']);
    expect(await namesOf('starred=false')).toEqual(ALL.filter((name) => name !== 'arms'));
    expect(await namesOf('tag=baseline')).toEqual(['arms']);
    expect(await namesOf('tag=paper')).toEqual([]);
    await change('arms', { tags: ['nightly', 'paper'], starred: false });
  });

  it('take a run out of the list and put it back, page by page', async () => {
    await change('lake, second try', { archived: true });
    const others = ALL.filter((name) => name !== 'lake, second try');
    expect(await namesOf('')).toEqual(others);
    expect(await namesOf('sort=name&order=ascending&search=lake')).toEqual(['Lake, first try']);
    expect(await namesOf('archived=only')).toEqual(['lake, second try']);
    expect(await namesOf('archived=all')).toEqual(ALL);
    const first = await pageOf('limit=1');
    expect((await pageOf(`limit=4&cursor=${first.nextCursor}`)).items.map(({ name }) => name)).toEqual(
      others.slice(1),
    );
    // Nor is a run active because somebody archives it.
    expect(await read('lake, second try')).toMatchObject({ archived: true, status: 'idle' });
    expect(await namesOf('status=idle&archived=only')).toEqual(['lake, second try']);
    await change('lake, second try', { archived: false });
    expect(await namesOf('')).toEqual(ALL);
  });

  it.each([
    [{ starred: 'yes' }, 'starred'],
    [{ tags: [''] }, 'tags[0]'],
    [{ tags: 'paper' }, 'tags'],
    [{ stars: 5 }, 'stars'],
    [{ source: 'me' }, ''],
  ])('refuses %j', async (body, field) => {
    const response = await fixture.patch(`/api/runs/${ids.get('arms')}`, body);
    expect(response.status).toBe(400);
    expect(((await response.json()) as ProblemBody).errors).toEqual([expect.objectContaining({ field })]);
  });

  it('answers 404 for a run that is not there', async () => {
    expect((await fixture.patch(`/api/runs/${newRunId()}`, { starred: true })).status).toBe(404);
  });
});

describe('the seeds of a recipe', () => {
  it('are the runs of it that differ by nothing else, but how they are computed', async () => {
    const startedAtUs = NOW_US - 2 * HOUR_US;
    const loss = { policyLoss: 'ppo', horizon: null, kl: { coefficient: 0.1, estimator: 'k3', in: 'loss' } };
    const advantage = { estimator: 'grpo', options: {} };
    const optimizer = { learningRate: 1e-3 };
    const first = { ...(recipe as object), seed: 1, optimizer, engine: null, loss, advantage };
    const formerLoss = { klCoefficient: 0.1, klIn: 'loss', klEstimator: 'k3', adaptiveKl: null };
    const others = {
      'seed 2': { ...first, seed: 2, engine: { kind: 'torch' } },
      'seed 3, before the KL was an object': {
        ...{ ...first, seed: 3, loss: { policyLoss: 'ppo', ...formerLoss } },
        advantage: { ...advantage, shuffle: false },
      },
      'another KL': { ...first, seed: 4, loss: { ...loss, kl: { ...loss.kl, coefficient: 0.2 } } },
      'another learning rate': { ...first, optimizer: { learningRate: 2e-3 } },
      'another name': first,
    };
    for (const [key, one] of Object.entries({ 'seed 1': first, ...others })) {
      const name = key === 'another name' ? key : 'seeds';
      await record(key, { started: { name, recipe: one as never, seed: one.seed }, startedAtUs });
    }
    await fixture.storeHasCaughtUp();
    const seedsOf = async (runId = newRunId()) =>
      (await pageOf(`seedsOf=${runId}`)).items.map((run) => run.runId).sort();
    const seeds = ['seed 1', 'seed 2', 'seed 3, before the KL was an object']
      .map((key) => ids.get(key))
      .sort();
    expect(await seedsOf(ids.get('seed 1'))).toEqual(seeds);
    expect(await seedsOf(ids.get('seed 2'))).toEqual(seeds);
    expect(await seedsOf(ids.get('another name'))).toEqual([ids.get('another name')]);
    expect(await seedsOf(ids.get('support agent'))).toEqual([]);
    expect(await seedsOf()).toEqual([]);
  });
});

describe('runs that started from a policy of a run', () => {
  it('are those whose recipe names it as the source of their weights', async () => {
    const parent = newRunId();
    const source = { runId: parent, policyVersion: 3, sha256: 'a'.repeat(64), sizeBytes: 8 };
    const fork = { ...(recipe as object), initFrom: { run: parent.slice(-8), version: '3', source } };
    await record('a fork', { started: { recipe: fork as never }, startedAtUs: NOW_US - HOUR_US });
    await fixture.storeHasCaughtUp();
    const forksOf = async (runId: string) =>
      (await pageOf(`startedFrom=${runId}`)).items.map((run) => run.runId);
    expect(await forksOf(parent)).toEqual([ids.get('a fork')]);
    expect(await forksOf(newRunId())).toEqual([]);
  });
});

// The last test, since it adds to what the others read.
it('list of runs: shows the figures of a run that logged something since the list was read', async () => {
  const find = async () => (await pageOf('')).items.find(({ name }) => name === 'lake, second try');
  expect(await find()).toMatchObject({ latest: { 'validation/success': 0.75 } });
  const run = { logId: fixture.log.logId, runId: ids.get('lake, second try') ?? '' };
  const values = Float64Array.of(0.875, 1);
  const names = ['validation/success', 'rollout/success'];
  await appendEvents(fixture.log, [
    controlEvent(run, 'MetricsLogged', { source: 'trainer', step: 2, names, values }),
  ]);
  await fixture.storeHasCaughtUp();
  // The figures of a run that trains may be late.
  await expect.poll(find).toMatchObject({
    latest: { 'validation/success': 0.875, 'train/loss': 2 },
    successCurve: [1],
    progress: { updateNumber: 2 },
  });
});
