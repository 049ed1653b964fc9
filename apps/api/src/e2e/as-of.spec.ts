import { tableFromIPC } from 'apache-arrow';
import { RewardScorer, scoreRun } from '@retrace/rewards/scoring';
import { appendEvents } from '@retrace/log/testing';
import { episodeIdFor, newRunId, nowUs } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Update } from '../updates/updates.dto.js';
import { createOpenApiDocument } from '../openapi/openapi-document.js';
import type { EpisodeListItem } from '../episodes/episodes.dto.js';
import type { Page } from '../paging/page.js';
import type { SqlResult } from '../sql/sql.dto.js';
import { ApiFixture } from '../testing/api-fixture.js';
import { RunRecorder } from '../testing/run-recorder.js';

/** The answers of a moment. */
interface Stage {
  readonly name: string;
  readonly momentUs: number;
  readonly answers: Readonly<Record<string, unknown>>;
}

/** A round of `RunRecorder` takes two seconds. */
const STAGE_MS = 10_000;
const PLAY_ID = '01a21e03-6c77-75aa-8dfa-39a0fc28f322';
const NOTEBOOK_ID = '01a22902-8e11-7b40-9c6a-0f4e5d3c2b1a';
const EPISODE = [
  { type: 'episode', episode: 'call', task: 'buy shoes', tags: ['new'] },
  { type: 'step', episode: 'call', step: 0, observation: 'Shoes?', action: 'Yes.' },
  { type: 'end', episode: 'call', success: true },
];
const reward = (value: number) => ({ type: 'reward', episode: 'call', name: 'stars', value });
const annotation = (tag: string) => ({ type: 'annotation', episode: 'call', tags: [tag], metadata: { tag } });

/** Addresses about what is complete once it is there. */
const SAME_EVER =
  /\/(recipe-differences|updates\/0|sampling-blocks|validations|reward-versions|set\/episodes)|episodes\/\w+|status=idle/;

const QUERIES = [
  'SELECT run_id, name, end_reason, tags, notes, starred FROM runs ORDER BY run_id',
  'SELECT episode_id, sealed, return, tags, metadata FROM episodes ORDER BY episode_id',
  'SELECT count() AS n, sum(reward) AS rewards, sum(length(token_ids)) AS tokens FROM steps',
  'SELECT * FROM current_rewards ORDER BY run_id, episode_id, step, name',
  'SELECT reward_version, episode_id, total FROM scores ORDER BY reward_version, episode_id',
  'SELECT run_id, update_number, episode_id, advantage_mean FROM update_inputs ORDER BY run_id, update_number, place',
  'SELECT run_id, update_number, count() AS n, sum(ratio) AS ratios FROM update_tokens GROUP BY ALL ORDER BY ALL',
  `WITH seen AS (SELECT episode_id, success FROM episodes WHERE episode_id IN (SELECT episode_id FROM steps))
   SELECT update_number, success FROM (SELECT update_number, arrayJoin(episode_ids) AS episode_id FROM updates) AS fed
   INNER JOIN seen USING (episode_id) ORDER BY ALL`,
  'SELECT title, revision, cells, saved_at FROM notebooks',
  "SELECT kind, count() AS n FROM events WHERE kind NOT IN ('_watermark', 'LogOpened') GROUP BY kind ORDER BY kind",
];

let fixture: ApiFixture;
let run: RunRecorder;
let agents: string;
const stages: Stage[] = [];
/** When only the run of the agents had begun. */
let onlyAgentsUs: number;
let answersNow: Readonly<Record<string, unknown>>;
/** The same in every stage, so that some name what is not there yet. */
let addresses: readonly string[];

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 29, 9) });
  fixture = await ApiFixture.start();
  agents = ((await (await fixture.post('/api/runs', { name: 'agents' })).json()) as { runId: string }).runId;
  run = new RunRecorder(fixture.log, { startedAtUs: nowUs() });
  await record(...EPISODE);
  await fixture.storeHasCaughtUp();
  addresses = await listAddresses();
  await happen(async () => {
    await record(reward(0.25), annotation('good'));
    await fixture.patch(`/api/runs/${agents}`, { tags: ['good'], notes: 'the first' });
  });
  onlyAgentsUs = nowUs();
  await see('it was rewarded and tagged anew, and a run was trained and scored', async () => {
    await record(reward(1), annotation('better'));
    await fixture.patch(`/api/runs/${agents}`, { tags: ['better'], starred: true });
    await run.start();
    await run.round();
    await score('goal');
    await fixture.post('/api/notebooks', { id: NOTEBOOK_ID, title: 'first', cells: [] });
  });
  await see('it was scored anew, an alarm was raised, an episode began, a data set was made', async () => {
    await score('environment');
    await fixture.patch(`/api/runs/${agents}`, { notes: 'the best' });
    await run.warn({ message: 'slow' });
    await fixture.post('/api/alarms/silences', { rule: 'missingRewards', until: '1h', note: 'known' });
    await run.unfinishedEpisode();
    const dataset = controlEvent({ logId: fixture.log.logId, runId: '' }, 'DatasetCreated', { name: 'set' });
    await appendEvents(fixture.log, [{ ...dataset, occurredAtUs: nowUs() }]);
    await fixture.put(`/api/notebooks/${NOTEBOOK_ID}`, { revision: 1, title: 'second', cells: [] });
  });
  await happen(async () => {
    await record(reward(-1), { ...annotation('worse'), metadata: null });
    await fixture.post('/api/runs', { id: newRunId(), name: 'played', tags: ['play', `play:${PLAY_ID}`] });
    await run.round();
    await run.end('finished');
    await fixture.delete(`/api/notebooks/${NOTEBOOK_ID}`);
  });
  answersNow = await answersAt((address) => address);
});

afterAll(async () => {
  vi.useRealTimers();
  await fixture?.close();
});

/** Lets something happen, seconds after what happened before, and brings it into the store. */
async function happen(what: () => Promise<void>): Promise<void> {
  vi.setSystemTime(Date.now() + STAGE_MS);
  run.skipTo(nowUs());
  await what();
  await fixture.storeHasCaughtUp();
  vi.setSystemTime(Date.now() + STAGE_MS);
}

async function see(name: string, what: () => Promise<void>): Promise<void> {
  await happen(what);
  stages.push({ name, momentUs: nowUs(), answers: await answersAt((address) => address) });
}

/** Answers of all addresses and queries, by what was asked. */
async function answersAt(addressOf: (address: string) => string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const address of addresses) {
    const response = await fixture.get(addressOf(address));
    answers[address] = { status: response.status, body: await response.json() };
  }
  for (const query of QUERIES) {
    const { columns, rows } = await askAt(addressOf('/api/sql'), query);
    answers[query] = { columns, rows };
  }
  return answers;
}

async function askAt(address: string, query: string): Promise<SqlResult> {
  const response = await fixture.post(address, { query });
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body as SqlResult;
}

function ask(query: string, moment?: string): Promise<SqlResult> {
  return askAt(moment === undefined ? '/api/sql' : asOf('/api/sql', moment), query);
}

function asOf(address: string, moment: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams({ asOf: moment }).toString()}`;
}

function timeText(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString();
}

async function record(...records: readonly object[]): Promise<void> {
  const response = await fixture.post(`/api/runs/${agents}/records`, records);
  expect(response.status, await response.text()).toBe(200);
}

function score(name: string): Promise<unknown> {
  const scorer = new RewardScorer({
    components: [{ reward: name }],
    allocation: 'perStep',
    allocationGamma: 1,
  });
  return scoreRun({ client: fixture.client, runId: run.runId, name, scorer });
}

/** Every address of the document that takes `asOf`, and more of them for some. */
async function listAddresses(): Promise<string[]> {
  const { paths } = await createOpenApiDocument();
  const templates = Object.entries(paths).flatMap(([path, { get }]) =>
    JSON.stringify(get?.parameters ?? []).includes('"asOf"') ? [path] : [],
  );
  const recorded = await fixture.getJson<Page<EpisodeListItem>>(`/api/runs/${agents}/episodes`);
  const played = {
    runId: run.runId,
    otherRunId: agents,
    episodeId: episodeIdFor({ runId: run.runId, ordinal: 0 }),
  };
  const common = {
    updateNumber: '0',
    version: 'goal',
    otherVersion: 'environment',
    name: 'set',
    playId: PLAY_ID,
    notebookId: NOTEBOOK_ID,
  };
  const values: Readonly<Record<string, string>> = { ...common, ...played };
  return [
    ...templates.map((template) => template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name])),
    `/api/runs/${run.runId}/updates/1/inputs`,
    ...['', '/totals', '/episodes', `/episodes/${recorded.items[0].episodeId}`].map(
      (rest) => `/api/runs/${agents}${rest}`,
    ),
    ...['status=running', 'status=idle', 'sort=metric&metric=rollout/success'].map(
      (query) => `/api/runs?${query}`,
    ),
  ];
}

describe('?asOf=', () => {
  it('answers every address and query as it was answered then, whatever happened since', async () => {
    expect(addresses.length).toBeGreaterThan(30);
    for (const { name, momentUs, answers } of stages) {
      const then = await answersAt((address) => asOf(address, timeText(momentUs)));
      for (const [asked, answer] of Object.entries(answers))
        expect(then[asked], `${name}: ${asked}`).toEqual(answer);
    }
  });

  it('has every address say something else at some time', () => {
    for (const address of addresses) {
      const said = [...stages.map(({ answers }) => answers), answersNow].map((answers) => answers[address]);
      if (!SAME_EVER.test(address) && !address.startsWith(`/api/runs/${agents}/`))
        expect(new Set(said.map((answer) => JSON.stringify(answer))).size, address).toBeGreaterThan(1);
    }
  });

  it('takes an event, the commit of an update, and a time as SQL prints it', async () => {
    const { appliedAt } = await fixture.getJson<Update>(`/api/runs/${run.runId}/updates/0`);
    const commit = (await ask("SELECT event_id FROM events WHERE kind = 'UpdateApplied' ORDER BY log_offset"))
      .rows[0][0];
    const moments = [
      commit,
      `${run.runId}@0`,
      `${run.runId.slice(-8)}@0`,
      appliedAt,
      `${appliedAt}`.replace('T', ' ').replace('Z', ''),
    ];
    for (const moment of moments) {
      const { rows } = await ask('SELECT max(update_number), max(applied_at) FROM updates', String(moment));
      expect(rows, String(moment)).toEqual([[0, `${appliedAt}`.replace('T', ' ').replace('Z', '')]]);
    }
  });

  it.each([
    ['yesterday', 400, /^asOf must be a date with a time such as/],
    ['2026-02-30T00:00:00Z', 400, /^asOf must be a date/],
    ['2026-11-29', 400, /^asOf must be a date/],
    ['01900000-0000-7000-8000-000000000000', 404, /no event 01900000/],
    ['01900000-0000-7000-8000-000000000000@3', 404, /no commit of 01900000/],
    ['latest@3', 404, /no commit of /],
    ['ffff0000@3', 404, /^Run "ffff0000" not found/],
    ['00000000-0000-0000-0000-000000000000', 404, /no event/],
    ['2026-11-29T17:38.5Z', 400, /^asOf must be a date/],
  ])('%s is answered %d', async (moment, status, detail) => {
    const response = await fixture.get(asOf('/api/runs', moment));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ detail: expect.stringMatching(detail) as string });
  });

  it('is refused where an answer tells of now, and where it is given twice', async () => {
    for (const [address, rule] of [
      ['/api/queue', /answer is about now/],
      ['/api/sql/schema', /answer is about now/],
      ['/api/runs?asOf=2026-11-29T09:00:00Z', /given once/],
    ] as const) {
      const response = await fixture.get(asOf(address, '2026-11-29T09:00:00Z'));
      expect(response.status, address).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'INVALID_REQUEST',
        detail: expect.stringMatching(rule) as string,
        errors: [{ field: 'asOf' }],
      });
    }
  });

  it.each([
    ['0001-01-01T00:00:00Z', 0],
    ['9999-12-31T23:59:59.999999+23:59', 3],
  ])('takes any year: at %s there were %d runs', async (moment, numRuns) => {
    expect((await fixture.getJson<Page<unknown>>(asOf('/api/runs', moment))).items).toHaveLength(numRuns);
    expect((await ask('SELECT run_id FROM runs', moment)).rows).toHaveLength(numRuns);
  });

  it('says which time an answer is as of', async () => {
    const { appliedAt } = await fixture.getJson<Update>(`/api/runs/${run.runId}/updates/0`);
    const response = await fixture.get(asOf('/api/runs', `${run.runId}@0`));
    expect(response.headers.get('retrace-as-of')).toBe(appliedAt);
  });

  it('takes a time to the microsecond with every filter', async () => {
    const moment = `${timeText(stages[0].momentUs).slice(0, -1)}999Z`;
    for (const status of ['running', 'idle', 'finished'])
      await fixture.getJson(asOf(`/api/runs?status=${status}`, moment));
  });

  it('is left to the pages, whose addresses keep the moment', async () => {
    const response = await fixture.get(asOf('/runs/latest', timeText(onlyAgentsUs)));
    expect(await response.text()).not.toContain('asOf');
    const unknown = await fixture.get(asOf('/api/nothing', timeText(onlyAgentsUs)));
    expect(unknown.status).toBe(404);
  });

  it('answers in Arrow, and calls a view by the name of a table', async () => {
    const response = await fetch(`${fixture.api.url}${asOf('/api/sql', timeText(onlyAgentsUs))}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/vnd.apache.arrow.stream' },
      body: JSON.stringify({ query: 'SELECT name FROM runs AS events' }),
    });
    const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
    expect(table.getChild('name')?.toJSON()).toEqual(['agents']);
  });

  it('does not reach other requests that are answered meanwhile', async () => {
    const before = asOf('/api/runs', timeText(onlyAgentsUs));
    const numRuns = async (address: string) => (await fixture.getJson<Page<unknown>>(address)).items.length;
    const counts = await Promise.all(
      Array.from({ length: 12 }, (_, i) => numRuns(i % 2 === 0 ? before : '/api/runs')),
    );
    expect(counts).toEqual(Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 1 : 3)));
  });
});
