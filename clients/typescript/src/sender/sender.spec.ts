import { afterEach, describe, expect, it } from 'vitest';
import { Retrace, type RetraceOptions } from '../retrace.js';
import type { RetraceError } from '../wire/retrace-error.js';
import {
  startIngestServer,
  type Answer,
  type IngestRequest,
  type IngestServer,
} from './ingest-server.fixture.js';
import { retryDelayMs } from './retry-delay.js';

/** Long enough that only `flush` sends. */
const NEVER_MS = 1_000_000;

let server: IngestServer;
let retrace: Retrace;
let errors: RetraceError[] = [];

afterEach(async () => {
  await retrace.close({ timeoutMs: 0 });
  await server.close();
});

async function open(
  reply: (request: IngestRequest, n: number) => Answer | null,
  options: Partial<RetraceOptions> = {},
): Promise<void> {
  errors = [];
  server = await startIngestServer(reply);
  retrace = new Retrace({
    url: server.url,
    lingerMs: NEVER_MS,
    onError: (error) => errors.push(error),
    ...options,
  });
}

function stepsTaken(): unknown[] {
  return server.taken.filter(({ type }) => type === 'step').map(({ action }) => action);
}

async function recordSteps(numSteps: number): Promise<void> {
  const run = await retrace.startRun({ name: 'test' });
  const episode = run.episode();
  for (let step = 0; step < numSteps; step++) episode.step({ action: `${step}` });
  episode.end();
}

describe('a sender', () => {
  it('sends a run, its records as NDJSON in their order, and the key', async () => {
    await open(() => null, { apiKey: 'secret-key' });
    const run = await retrace.startRun({ name: 'shop', tags: ['v1'] });
    const episode = run.episode({ task: { n: 1 } });
    expect(episode.step({ observation: 'a', action: 'b' })).toBe(0);
    expect(episode.step({ observation: 'c', action: 'd' })).toBe(1);
    episode.reward({ name: 'thumbs', value: 1, step: 1 });
    episode.end({ success: true });
    run.end();
    expect(server.requests).toHaveLength(0);
    expect(await retrace.flush()).toBe(true);
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/runs',
      `/api/runs/${run.id}/records`,
      `/api/runs/${run.id}/end`,
    ]);
    expect(server.requests[1].headers).toMatchObject({
      authorization: 'Bearer secret-key',
      'content-type': 'application/x-ndjson',
    });
    expect(server.taken).toMatchObject([
      { id: run.id, name: 'shop', tags: ['v1'] },
      { type: 'episode', episode: episode.id, task: { n: 1 } },
      { type: 'step', step: 0, observation: 'a', action: 'b' },
      { type: 'step', step: 1, observation: 'c', action: 'd' },
      { type: 'reward', episode: episode.id, name: 'thumbs', value: 1, step: 1 },
      { type: 'end', success: true, numSteps: 2 },
      { reason: 'finished' },
    ]);
    expect(retrace.stats).toMatchObject({ numPending: 0, numAcknowledged: 7, numDropped: 0 });
  });

  it('sends full batches at once, and others after lingerMs', async () => {
    await open(() => null, { maxBatchRecords: 5, lingerMs: 20 });
    await recordSteps(12);
    await expect.poll(() => stepsTaken().length).toBe(12);
    const sizes = server.requests
      .filter(({ path }) => path.endsWith('/records'))
      .map(({ records }) => records.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(5);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(14);
  });

  it('waits as long as a 429 or 503 asks, then sends the same again', async () => {
    const times: number[] = [];
    await open((_, n) => {
      times.push(performance.now());
      if (n === 1) return { status: 429, headers: { 'retry-after': '1' } };
      return n === 2 ? { status: 503, body: { code: 'LOG_UNAVAILABLE', detail: 'the log is down' } } : null;
    });
    await recordSteps(3);
    expect(await retrace.flush()).toBe(true);
    expect(times[2] - times[1]).toBeGreaterThan(990);
    expect(server.requests[2].records).toEqual(server.requests[1].records);
    expect(stepsTaken()).toEqual(['0', '1', '2']);
    expect(errors.map(({ code, status }) => [code, status])).toEqual([
      ['BUSY', 429],
      ['BUSY', 503],
    ]);
  });

  it('sends again what was taken when the answer was lost, which stores nothing twice', async () => {
    await open((_, n) => (n === 1 ? { status: 200, breaks: true } : null));
    await recordSteps(3);
    expect(await retrace.flush()).toBe(true);
    expect(stepsTaken()).toEqual(['0', '1', '2']);
    expect(server.numDuplicates).toBe(5);
    expect(retrace.stats).toMatchObject({ numAcknowledged: 6, numDuplicates: 5 });
    expect(errors[0].code).toBe('UNREACHABLE');
  });

  it('drops the record that the server refuses, and no other', async () => {
    await open(({ records }) => {
      const index = records.findIndex(({ action }) => action === '2' || action === '4');
      if (index < 0) return null;
      return {
        status: 409,
        body: {
          code: 'STEP_CONFLICT',
          detail: 'step 2 has other content',
          errors: [{ index, field: 'step', rule: 'once' }],
        },
      };
    });
    await recordSteps(6);
    expect(await retrace.flush()).toBe(true);
    expect(stepsTaken()).toEqual(['0', '1', '3', '5']);
    expect(retrace.stats.numRefused).toBe(2);
    expect(errors).toMatchObject([
      { code: 'REFUSED', status: 409, problem: 'STEP_CONFLICT', errors: [{ index: 0 }] },
      { code: 'REFUSED' },
    ]);
    expect(errors[0].message).toContain('"action":"2"');
  });

  it('finds a record at fault by halves when the server names none, and sends a poorer one in its place', async () => {
    await open(({ records }) => (records.some(({ action }) => action === '5') ? { status: 400 } : null));
    await recordSteps(9);
    expect(await retrace.flush()).toBe(true);
    expect(stepsTaken()).toEqual(['0', '1', '2', '3', '4', undefined, '6', '7', '8']);
    expect(server.taken.at(-1)).toMatchObject({ type: 'end', numSteps: 9 });
  });

  it.each([400, 404, 409, 413, 422])('never makes a request again that was answered %d', async (status) => {
    await open(({ path }) => (path.endsWith('/records') ? { status } : null));
    await recordSteps(3);
    expect(await retrace.flush()).toBe(true);
    const bodies = server.requests
      .filter(({ path }) => path.endsWith('/records'))
      .map(({ records }) => JSON.stringify(records));
    expect(bodies.length).toBeGreaterThan(0);
    expect(new Set(bodies).size).toBe(bodies.length);
    expect(server.taken).toMatchObject([{ name: 'test' }]);
  });

  it('keeps records while the key is wrong', async () => {
    let isAllowed = false;
    await open(() =>
      isAllowed ? null : { status: 401, body: { code: 'UNAUTHENTICATED', detail: 'no such key' } },
    );
    await recordSteps(1);
    expect(await retrace.flush({ timeoutMs: 100 })).toBe(false);
    await expect.poll(() => errors[0]).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    isAllowed = true;
    expect(await retrace.flush()).toBe(true);
    expect(stepsTaken()).toEqual(['0']);
  });

  it('never throws: a record with what is no JSON is stored poorer and reported, errors of onError ignored', async () => {
    await open(() => null, {
      onError: (error) => {
        errors.push(error);
        throw new Error('of the agent');
      },
    });
    const run = await retrace.startRun({ name: 'test' });
    const episode = run.episode();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    episode.step({ action: 'good' });
    episode.step({ action: 'cycle', info: cycle as never });
    episode.step({ action: 'after it' });
    episode.end();
    expect(await retrace.flush()).toBe(true);
    expect(stepsTaken()).toEqual(['good', 'cycle', 'after it']);
    expect(server.taken.at(-1)).toMatchObject({ type: 'end', numSteps: 3 });
    expect(retrace.stats).toMatchObject({ numDropped: 0, numPoorerEpisodes: 1, numBrokenEpisodes: 0 });
    expect(errors[0].code).toBe('POORER');
  });

  it('sends a refused step again without the field at fault, then with its place only, so that the episode goes on', async () => {
    await open(({ records }) => {
      const index = records.findIndex(({ action, info }) => action === '1' || info !== undefined);
      if (index < 0) return null;
      const field = records[index].info === undefined ? 'action' : 'info.x';
      return {
        status: 422,
        body: { code: 'INVALID_REQUEST', detail: 'no', errors: [{ index, field, rule: 'must be fine' }] },
      };
    });
    const run = await retrace.startRun({ name: 'test' });
    const episode = run.episode();
    episode.step({ action: '0' });
    episode.step({ action: '1', info: { x: 1 }, reward: 2 });
    episode.step({ action: '2' });
    episode.end();
    expect(await retrace.close()).toBe(true);
    expect(server.taken.slice(-3)).toMatchObject([
      {
        type: 'step',
        step: 1,
        reward: 2,
        untrainable:
          'made storable: the server refused info.x: must be fine; made storable: the server refused action: must be fine',
      },
      { type: 'step', step: 2, action: '2' },
      { type: 'end', numSteps: 3 },
    ]);
    expect(retrace.stats.damagedEpisodes).toMatchObject([{ episode: episode.id, outcome: 'poorer' }]);
    expect(errors.at(-1)?.message).toContain(`${episode.id} of run ${run.id} (poorer)`);
  });

  it('abandons an episode of which a step can not be stored at all, and close() tells', async () => {
    await open(({ records }) => {
      const index = records.findIndex(
        ({ type, step, numSteps }) => (type === 'step' && step !== 0) || numSteps === 3,
      );
      if (index < 0) return null;
      const [code, field] =
        records[index].type === 'end' ? ['STEP_OUT_OF_ORDER', 'numSteps'] : ['INVALID_REQUEST', 'step'];
      return {
        status: 422,
        body: {
          code,
          detail: 'no',
          errors: [{ index, field, rule: 'must be 1, the steps that were recorded' }],
        },
      };
    });
    await recordSteps(3);
    expect(await retrace.close()).toBe(false);
    expect(server.taken.at(-1)).toMatchObject({
      type: 'end',
      endReason: 'abandoned',
      detail: 'steps are missing: must be 1, the steps that were recorded',
    });
    expect(retrace.stats).toMatchObject({ numRefused: 2, numBrokenEpisodes: 1, numPoorerEpisodes: 0 });
  });

  it('sends the end of an episode that found no room once there is some', async () => {
    let isDown = true;
    await open(() => (isDown ? { status: 503 } : null), { maxMemoryBytes: 1_000 });
    const run = await retrace.startRun({ name: 'test' });
    const episode = run.episode();
    for (let step = 0; step < 10; step++) episode.step({ action: 'x'.repeat(100) });
    // Fills the rest, so that not even the end finds room.
    for (let n = 0; n < 10; n++) episode.reward({ name: 'r', value: n });
    episode.end();
    isDown = false;
    expect(await retrace.flush()).toBe(true);
    expect(server.taken.at(-1)).toMatchObject({ type: 'end', endReason: 'abandoned' });
  });

  it('drops new records when memory is full, and ends their episode as abandoned', async () => {
    await open(() => ({ status: 503 }), { maxMemoryBytes: 2_000 });
    const run = await retrace.startRun({ name: 'test' });
    const episode = run.episode();
    for (let step = 0; step < 50; step++) episode.step({ action: 'x'.repeat(100) });
    const { numPending, numDropped } = retrace.stats;
    expect(numPending + numDropped).toBe(52);
    expect(numDropped).toBeGreaterThan(30);
    expect(errors[0]).toMatchObject({ code: 'DROPPED' });
  });

  it('takes a step in less than a millisecond of processor time while the server hangs', async () => {
    await open(() => null);
    await server.close();
    const run = await retrace.startRun({ name: 'test' });
    const episode = run.episode();
    const before = process.cpuUsage();
    for (let step = 0; step < 1_000; step++)
      episode.step({ observation: 'o'.repeat(500), action: 'a'.repeat(500) });
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1_000);
    expect(retrace.stats.numPending).toBe(1_002);
  });
});

describe('retryDelayMs', () => {
  it('doubles from 250 ms to 30 s, spread over the upper half, and never undercuts the server', () => {
    expect([1, 2, 3, 8, 100].map((n) => retryDelayMs(n, null, 1))).toEqual([250, 500, 1_000, 30_000, 30_000]);
    expect(retryDelayMs(3, null, 0)).toBe(500);
    expect(retryDelayMs(1, 7_000, 0)).toBe(7_000);
  });
});
