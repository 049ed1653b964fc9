import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEvents } from '@retrace/log/testing';
import { episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import type { EpisodeSteps } from '../episodes/episode-steps.dto.js';
import { ApiFixture } from '../testing/api-fixture.js';

let fixture: ApiFixture;

beforeAll(async () => {
  fixture = await ApiFixture.start();
});

afterAll(() => fixture?.close());

interface Problem {
  readonly code: string;
  readonly errors?: readonly { readonly index?: number; readonly field: string; readonly rule: string }[];
}

async function startRun(): Promise<string> {
  const response = await fixture.post('/api/runs', {
    name: 'agents',
    environment: 'shop',
    tags: ['a'],
    metadata: { v: 1 },
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { runId: string }).runId;
}

function send(
  runId: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${fixture.api.url}/api/runs/${runId}/records`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

const episodeOf = (episode: string): object[] => [
  { type: 'episode', episode, task: 'buy shoes' },
  {
    type: 'step',
    episode,
    step: 0,
    messages: {
      input: [
        { role: 'system', content: 'You shop.' },
        { role: 'user', content: [{ type: 'text', text: 'Shoes?' }] },
      ],
      output: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'find', arguments: '{}' } }],
      },
    },
    usage: { inputTokens: 12, outputTokens: 3, costUsd: 0.001 },
  },
  { type: 'end', episode, success: true },
];

describe('GET /api/runs/:runId/episodes/:episodeId/branches', () => {
  it('lists the agents that an episode called and the forks of its steps, in the order in which they started', async () => {
    const runId = await startRun();
    const [main, called, forked, stranger] = [newRunId(), newRunId(), newRunId(), newRunId()];
    const step = (episode: string, reward: number) => ({
      ...{ type: 'step', episode, step: 0, action: 'go', reward },
    });
    const records = [
      { type: 'episode', episode: main, occurredAt: '2026-11-29T12:00:00Z' },
      step(main, 1),
      // Their order of arrival is not that of their starts.
      {
        type: 'episode',
        episode: forked,
        occurredAt: '2026-11-29T12:00:02Z',
        forkedFrom: { episode: main, step: 0 },
      },
      {
        type: 'episode',
        episode: called,
        occurredAt: '2026-11-29T12:00:01Z',
        parentEpisode: main,
        agent: 'helper',
      },
      step(called, 0.5),
      { type: 'end', episode: called, success: true },
      { type: 'episode', episode: stranger, task: { mentions: main } },
    ];
    expect((await send(runId, JSON.stringify(records))).status).toBe(200);
    await fixture.storeHasCaughtUp();
    const branchesOf = async (episode: string) => {
      const answer = await fetch(`${fixture.api.url}/api/runs/${runId}/episodes/${episode}/branches`);
      return ((await answer.json()) as { items: object[] }).items;
    };
    expect(await branchesOf(main)).toEqual([
      {
        ...{
          kind: 'call',
          step: null,
          runId,
          episodeId: called,
          agent: 'helper',
          sealed: true,
          success: true,
        },
        ...{ return: 0.5, numSteps: 1, startedAt: '2026-11-29T12:00:01.000000Z' },
      },
      expect.objectContaining({
        kind: 'fork',
        step: 0,
        runId,
        episodeId: forked,
        sealed: false,
        return: null,
      }),
    ]);
    expect(await branchesOf(called)).toEqual([]);
  });

  it('lists a fork of another run at the step that it begins at, and nothing of the fork itself', async () => {
    const [runId, main, forkRunId] = [await startRun(), newRunId(), newRunId()];
    expect((await send(runId, JSON.stringify(episodeOf(main)))).status).toBe(200);
    const ids = { logId: fixture.log.logId, runId: forkRunId };
    await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted', { name: 'forks' })]);
    await appendEvents(
      fixture.log,
      episodeEvents({
        ...{ ...ids, ordinal: 0, numSteps: 1 },
        started: { forkedFrom: { episodeId: main, step: 0 }, forkedFromRunId: runId },
      }),
    );
    await fixture.storeHasCaughtUp();
    const fork = episodeIdFor({ runId: forkRunId, ordinal: 0 });
    const addressOf = (run: string, episode: string) => `/api/runs/${run}/episodes/${episode}/branches`;
    expect(await fixture.getJson(addressOf(runId, main))).toEqual({
      items: [
        expect.objectContaining({ kind: 'fork', step: 0, runId: forkRunId, episodeId: fork, numSteps: 1 }),
      ],
      truncated: false,
    });
    expect(await fixture.getJson(addressOf(forkRunId, fork))).toEqual({ items: [], truncated: false });
    expect((await fixture.get(addressOf(runId, newRunId()))).status).toBe(404);
  });
});

describe('GET /api/runs/:runId/episodes/:episodeId/steps', () => {
  it.each([
    ['steps', '?maxSteps=2', 10],
    ['tokens', '', 40_000],
  ])(
    'of an unfinished episode too: tells which step comes after an answer with as many %s as it may have',
    async (_, query, numTokens) => {
      const ids = { logId: fixture.log.logId, runId: newRunId() };
      await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted')]);
      const events = episodeEvents({ ...ids, ordinal: 0, numTokens, numSteps: 3 });
      await appendEvents(fixture.log, events.slice(0, -1));
      await fixture.storeHasCaughtUp();
      const path = `/api/runs/${ids.runId}/episodes/${events[0].episodeId}`;
      for (const part of ['', '/steps']) {
        const { steps, nextStep } = await fixture.getJson<EpisodeSteps>(`${path}${part}${query}`);
        expect([steps.length, nextStep]).toEqual([2, 2]);
      }
      const { steps, nextStep } = await fixture.getJson<EpisodeSteps>(`${path}/steps?fromStep=2`);
      expect([steps.length, nextStep]).toEqual([1, null]);
    },
  );
});

describe('POST /api/runs/:runId/records', () => {
  it('takes JSON, NDJSON and gzip, and SQL shows what came', async () => {
    const runId = await startRun();
    const [one, two, three] = [newRunId(), newRunId(), 'my-own-id'];
    expect((await send(runId, JSON.stringify(episodeOf(one)))).status).toBe(200);
    const lines = episodeOf(two)
      .map((record) => JSON.stringify(record))
      .join('\n');
    expect((await send(runId, lines, { 'content-type': 'application/x-ndjson' })).status).toBe(200);
    const packed = await send(runId, gzipSync(JSON.stringify(episodeOf(three))), {
      'content-encoding': 'gzip',
    });
    expect(await packed.json()).toEqual({ accepted: 3, duplicates: 0 });
    await fixture.storeHasCaughtUp();
    const answer = await fixture.post('/api/sql', {
      query: `SELECT external_id, observation, action, input_tokens, cost_usd, environment FROM steps JOIN episodes USING (run_id, episode_id)
        WHERE run_id = '${runId}' ORDER BY external_id`,
    });
    const step = ['system: You shop.\nuser: Shoes?', 'find({})', 12, 0.001, 'shop'];
    expect(((await answer.json()) as { rows: unknown[] }).rows).toEqual([
      ['', ...step],
      ['', ...step],
      [three, ...step],
    ]);
  });

  it('refuses a batch with index, field, value and rule of its first fault', async () => {
    const runId = await startRun();
    const episode = newRunId();
    const response = await send(
      runId,
      JSON.stringify([...episodeOf(episode), { type: 'step', episode, step: -1 }]),
    );
    expect(response.status).toBe(400);
    const problem = (await response.json()) as Problem;
    expect(problem).toMatchObject({
      code: 'INVALID_REQUEST',
      errors: [{ index: 3, field: 'step', value: -1, rule: 'must be ≥ 0' }],
    });
    expect((await send(runId, JSON.stringify({ type: 'step', episode, step: 0 }))).status).toBe(409);
  });

  it('refuses what it can not read, with the status that says why', async () => {
    const runId = await startRun();
    const answers = async (...call: Parameters<typeof send>): Promise<[number, string]> => {
      const response = await send(...call);
      return [response.status, ((await response.json()) as Problem).code];
    };
    expect(await answers(runId, '{')).toEqual([400, 'MALFORMED_BODY']);
    expect(await answers(runId, '[]', { 'content-type': 'text/plain' })).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]);
    expect(await answers(runId, '[]', { 'content-encoding': 'br' })).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await answers(runId, 'x', { 'content-encoding': 'gzip' })).toEqual([400, 'MALFORMED_BODY']);
    expect(await answers(newRunId(), '[]')).toEqual([404, 'NOT_FOUND']);
    expect(await answers(runId, ' '.repeat(17 * 1024 * 1024))).toEqual([413, 'BODY_TOO_LARGE']);
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, ' '));
    expect(await answers(runId, bomb, { 'content-encoding': 'gzip' })).toEqual([413, 'BODY_TOO_LARGE']);
  });
});
