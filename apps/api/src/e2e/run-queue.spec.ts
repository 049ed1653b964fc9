import type { RunControlAnswer, RunControlRequest } from '@retrace/process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readApiConfig } from '../config/api-config.js';
import { RunControl } from '../run-queue/run-control.js';
import { startApiServer, type ApiServer } from '../server.js';
import { ApiFixture } from '../testing/api-fixture.js';

const RUN_ID = '01890000-0000-7000-8000-000000000001';
const EMPTY = { running: null, queued: [], ended: [] };

describe('the queue of runs', () => {
  let fixture: ApiFixture;
  let api: ApiServer;
  let asked: RunControlRequest[];
  let answer: RunControlAnswer;
  beforeAll(async () => {
    fixture = await ApiFixture.start();
    const config = readApiConfig({
      ...fixture.environment,
      RETRACE_TRACE_DIRECTORY: '',
      RETRACE_SINK: 'off',
      RETRACE_AGENTS_KEY: 'of-the-server',
    });
    const ask = (request: RunControlRequest) => {
      asked.push(request);
      return Promise.resolve(answer);
    };
    api = await startApiServer(config, { runControl: new RunControl(ask) });
  });
  afterAll(async () => {
    await api.close();
    await fixture.close();
  });
  beforeEach(() => {
    asked = [];
    answer = { ok: true, queue: EMPTY, agents: null };
  });

  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${api.url}${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it('passes what is asked on to the supervisor', async () => {
    const start = {
      recipe: 'bandit-ppo',
      seed: 3,
      overrides: { 'optimizer.learningRate': 0.001, imitation: null },
    };
    expect(await send('POST', '/api/queue', start)).toEqual({
      status: 200,
      body: { isAvailable: true, ...EMPTY },
    });
    await send('GET', '/api/queue');
    await send('DELETE', `/api/queue/${RUN_ID}`);
    await send('POST', `/api/runs/${RUN_ID}/training`, { action: 'stop' });
    await send('POST', `/api/runs/${RUN_ID}/training`, { action: 'resume' });
    expect(asked).toEqual([
      { kind: 'start', start },
      { kind: 'show' },
      { kind: 'cancel', queueId: RUN_ID },
      { kind: 'stop', runId: RUN_ID },
      { kind: 'resume', runId: RUN_ID },
    ]);
  });

  it('tells where agents are recorded, and answers 404 for a question where they are nowhere', async () => {
    const question = { text: 'goal_a1 you_d4' };
    expect(await send('GET', '/api/agents')).toEqual({ status: 200, body: { proxy: null } });
    expect(await send('POST', `/api/runs/${RUN_ID}/answers`, question)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
    const agents = { url: 'http://127.0.0.1:1', runName: 'agents', policiesAnswer: true };
    answer = { ok: true, queue: EMPTY, agents };
    expect(await send('GET', '/api/agents')).toEqual({
      status: 200,
      body: { proxy: { ...agents, needsKey: false } },
    });
    // Nothing listens there.
    expect(await send('POST', `/api/runs/${RUN_ID}/answers`, question)).toMatchObject({
      status: 503,
      body: { code: 'POLICY_UNAVAILABLE' },
    });
    expect(await send('POST', `/api/runs/${RUN_ID}/answers`, { text: 'a', policy: 'best' })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'policy', value: 'best' }] },
    });
  });

  it('asks a policy with the key of the server only, and only where policies answer', async () => {
    const keys: (string | undefined)[] = [];
    const said: [number, string][] = [
      [200, '{"choices":[]}'],
      [200, 'no JSON'],
      [429, '{"error":{"message":"busy"}}'],
      [400, '{"error":{"message":"too many tokens","param":"max_tokens"}}'],
    ];
    const proxy = createServer((request, response) => {
      keys.push(request.headers.authorization);
      const [status, text] = said[keys.length - 1];
      response.writeHead(status).end(text);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const agents = { url, runName: 'agents', policiesAnswer: true };
    const ask = () =>
      fetch(`${api.url}/api/runs/${RUN_ID}/answers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer of-the-caller' },
        body: JSON.stringify({ text: 'a' }),
      });
    try {
      answer = { ok: true, queue: EMPTY, agents };
      const answers = [await ask(), await ask(), await ask(), await ask()];
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 429, 400]);
      expect(await answers[3].json()).toMatchObject({ errors: [{ field: 'maxTokens', value: 64 }] });
      expect(keys).toEqual(Array(4).fill('Bearer of-the-server'));
      answer = { ok: true, queue: EMPTY, agents: { ...agents, policiesAnswer: false } };
      expect((await ask()).status).toBe(404);
      answer = { ok: false, code: 'UNANSWERED', message: 'late' };
      expect((await ask()).status).toBe(504);
      expect(keys).toHaveLength(4);
    } finally {
      proxy.close();
    }
  });

  it('lists recipes and algorithms', async () => {
    const { body } = await send('GET', '/api/recipes');
    expect(body).toMatchObject({
      recipes: expect.arrayContaining([expect.objectContaining({ name: 'bandit-ppo' })]) as unknown,
      algorithms: expect.arrayContaining([expect.objectContaining({ name: 'grpo' })]) as unknown,
    });
  });

  it.each([
    [{}, 'recipe'],
    [{ recipe: 'bandit-ppo', numUpdates: 0 }, 'numUpdates'],
    [{ recipe: 'bandit-ppo', seed: -1 }, 'seed'],
    [{ recipe: 'bandit-ppo', overrides: ['a=1'] }, 'overrides'],
    [{ recipe: 'bandit-ppo', overrides: { environment: { module: '/tmp/evil.mjs' } } }, 'overrides'],
    [{ recipe: 'bandit-ppo', module: '/tmp/evil.mjs' }, 'module'],
  ])('refuses %j, naming the field', async (body, field) => {
    const refused = await send('POST', '/api/queue', body);
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    expect(JSON.stringify(refused.body.errors)).toContain(`"${field}"`);
    expect(asked).toEqual([]);
  });

  it.each([
    ['INVALID_START', 400, 'INVALID_REQUEST'],
    ['QUEUE_FULL', 429, 'TOO_MANY_RUNS'],
    ['NOT_QUEUED', 404, 'NOT_FOUND'],
    ['RUN_NOT_TRAINING', 409, 'RUN_NOT_TRAINING'],
    ['UNANSWERED', 504, 'RUN_CONTROL_UNANSWERED'],
    ['UNAVAILABLE', 501, 'RUN_CONTROL_UNAVAILABLE'],
  ] as const)('answers %s of the supervisor with %i %s', async (code, status, problem) => {
    answer = { ok: false, code, message: 'the reason' };
    expect(await send('POST', '/api/queue', { recipe: 'bandit-ppo' })).toMatchObject({
      status,
      body: { code: problem, detail: 'the reason' },
    });
  });

  it('answers 501 where no supervisor starts runs', async () => {
    const response = await fixture.post('/api/queue', { recipe: 'bandit-ppo' });
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({ code: 'RUN_CONTROL_UNAVAILABLE' });
    expect(await fixture.getJson('/api/queue')).toEqual({ isAvailable: false, ...EMPTY });
  });
});
