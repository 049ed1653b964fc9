import type { JudgeRequest } from '../../judge.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { JudgeClient } from './judge-client.js';
import { startJudgeServer, type JudgeReply, type JudgeServer } from './judge-server.fixture.js';

describe('JudgeClient', () => {
  let server: JudgeServer | null = null;
  afterEach(async () => {
    vi.useRealTimers();
    await server?.close();
    server = null;
  });

  const requestTo = (
    endpoint: string,
    change: Partial<JudgeRequest & JudgeRequest['service']> = {},
  ): JudgeRequest => ({
    model: change.model ?? 'grader',
    system: 'grade it',
    user: change.user ?? 'an episode',
    minScore: 0,
    maxScore: 1,
    temperature: 0,
    maxTokens: 64,
    seed: 0,
    service: {
      endpoint,
      apiKeyVariable: change.apiKeyVariable ?? '',
      timeoutMs: change.timeoutMs ?? 5000,
      maxRetries: change.maxRetries ?? 2,
      concurrency: change.concurrency ?? 4,
      promptPrice: 2,
      completionPrice: 10,
    },
  });

  async function askOf(
    reply: (n: number) => JudgeReply,
    change: Partial<JudgeRequest & JudgeRequest['service']> = {},
  ) {
    server = await startJudgeServer(reply);
    const client = new JudgeClient({ firstRetryMs: 1, apiKeys: { KEY: 'sesame' } });
    const { answer, newVerdict } = await client.ask(requestTo(server.endpoint, change), []);
    return { answer, newVerdict, client, server };
  }

  it('sends a request in the form of OpenAI’s API and reads the verdict', async () => {
    const { answer, newVerdict, client, server } = await askOf(() => ({}), { apiKeyVariable: 'KEY' });
    expect(answer).toEqual({ kind: 'verdict', score: 0.5, rationale: 'as asked' });
    expect(newVerdict).toMatchObject({
      model: 'grader',
      score: 0.5,
      raw: '{"rationale":"as asked","score":0.5}',
      promptHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(server.headers[0].authorization).toBe('Bearer sesame');
    expect(server.requests[0]).toMatchObject({
      model: 'grader',
      temperature: 0,
      max_tokens: 64,
      messages: [
        { role: 'system', content: 'grade it' },
        { role: 'user', content: 'an episode' },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: { strict: true, schema: { properties: { score: { minimum: 0, maximum: 1 } } } },
      },
    });
    // 100 prompt tokens at 2 and 20 completion tokens at 10 per million.
    expect(client.usage).toMatchObject({
      numRequests: 1,
      numVerdicts: 1,
      promptTokens: 100,
      completionTokens: 20,
    });
    expect(client.usage.cost).toBeCloseTo((100 * 2 + 20 * 10) / 1e6, 15);
  });

  it.each<[string, JudgeReply]>([
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '0' }, body: 'slow down' }],
    ['500', { status: 500, body: 'oops' }],
    ['503', { status: 503, body: '' }],
    ['an answer that is no JSON', { body: '<html>' }],
    ['a message that is no JSON', { content: 'I would say 0.7' }],
    ['a score out of range', { content: '{"rationale":"great","score":11}' }],
    ['a score that is a text', { content: '{"rationale":"great","score":"1"}' }],
    ['no rationale', { content: '{"score":1}' }],
    ['an answer that was cut off', { content: '{"rationale":"x","score":1}', finishReason: 'length' }],
    ['no choices', { body: '{}' }],
  ])('retries after %s, at most maxRetries times', async (_, reply) => {
    const mended = await askOf((n) => (n < 2 ? reply : {}));
    expect(mended.answer).toMatchObject({ kind: 'verdict', score: 0.5 });
    expect(mended.client.usage).toMatchObject({ numRequests: 3, numRetries: 2, numUnanswered: 0 });
    await mended.server.close();

    const broken = await askOf(() => reply);
    expect(broken.answer).toMatchObject({
      kind: 'none',
      reason: expect.stringMatching(/^judge: /) as string,
    });
    expect(broken.newVerdict).toBeNull();
    expect(broken.client.usage).toMatchObject({ numRequests: 3, numVerdicts: 0, numUnanswered: 1 });
  });

  it.each([
    ['no choices', '{"choices":{}}'],
    ['a choice that is none', '{"choices":[null]}'],
    ['a message that is none', '{"choices":[{"message":"1"}]}'],
    ['a list', '[1]'],
  ])('has no verdict from an answer with %s, and says so', async (_, body) => {
    const { answer } = await askOf(() => ({ body }), { maxRetries: 0 });
    expect(answer).toEqual({ kind: 'none', reason: 'judge: the answer holds no message' });
  });

  it.each(['"100"', '-100', '1.5', 'null'])('counts no tokens where the usage says %s', async (told) => {
    const content = JSON.stringify('{"rationale":"x","score":1}');
    const usage = `{"prompt_tokens":${told},"completion_tokens":20}`;
    const body = `{"choices":[{"message":{"content":${content}}}],"usage":${usage}}`;
    const { newVerdict, client } = await askOf(() => ({ body }));
    expect(newVerdict).toMatchObject({ score: 1, promptTokens: 0, completionTokens: 20 });
    expect(client.usage).toMatchObject({ promptTokens: 0, completionTokens: 20 });
  });

  it('waits before a retry as long as the Retry-After header asks', async () => {
    const started = performance.now();
    await askOf((n) => (n === 0 ? { status: 429, headers: { 'retry-after': '1' } } : {}));
    expect(performance.now() - started).toBeGreaterThan(1000);
  });

  it('does not repeat a request that the service refuses', async () => {
    const { answer, client } = await askOf(() => ({ status: 400, body: 'no such model' }));
    expect(answer).toEqual({ kind: 'none', reason: 'judge: HTTP 400: no such model' });
    expect(client.usage.numRequests).toBe(1);
  });

  it('treats a refusal to judge as an answer without a score', async () => {
    const { answer, newVerdict, client } = await askOf(() => ({ refusal: 'I cannot help with that' }));
    expect(answer).toEqual({ kind: 'none', reason: 'judge: refused: I cannot help with that' });
    expect(newVerdict).toMatchObject({ score: null, raw: 'I cannot help with that' });
    expect(client.usage).toMatchObject({ numRequests: 1, numRefused: 1, numUnanswered: 0 });
  });

  it('gives up on a request after its timeout', async () => {
    const { answer } = await askOf(() => ({ delayMs: 2000 }), { timeoutMs: 50, maxRetries: 0 });
    expect(answer).toMatchObject({ kind: 'none', reason: expect.stringContaining('timeout') as string });
  });

  it('names the environment variable that has no key', async () => {
    const { answer, client } = await askOf(() => ({}), { apiKeyVariable: 'JUDGE_KEY' });
    expect(answer).toMatchObject({
      reason: 'judge: apiKeyVariable is JUDGE_KEY, which is not set in the environment',
    });
    expect(client.usage.numVerdicts).toBe(0);
  });

  it('uses an archived verdict instead of asking, and counts its tokens once', async () => {
    const { newVerdict, client, server } = await askOf(() => ({}));
    expect(newVerdict).toMatchObject({ promptTokens: 100, completionTokens: 20 });
    const request = requestTo(server.endpoint);
    const again = await client.ask(request, []);
    expect(again.newVerdict).toEqual({ ...newVerdict, promptTokens: 0, completionTokens: 0 });

    const asked: string[] = [];
    const find = (hash: string) => {
      asked.push(hash);
      return Promise.resolve(hash === newVerdict?.promptHash ? newVerdict : null);
    };
    const other = new JudgeClient({ archive: { find } });
    expect((await other.ask(request, [])).newVerdict).toEqual(again.newVerdict);
    expect(server.requests).toHaveLength(1);
    expect(other.usage).toMatchObject({ numRequests: 0, numReused: 1, numVerdicts: 0, promptTokens: 0 });
    await other.ask(requestTo(server.endpoint, { user: 'another episode' }), []);
    expect(server.requests).toHaveLength(2);
    // Neither where the log has a verdict nor where only what is logged counts.
    await other.ask(request, newVerdict === null ? [] : [newVerdict]);
    await other.ask(requestTo(server.endpoint, { user: 'a third' }), [], { onlyKnown: true });
    expect(asked).toHaveLength(2);
  });

  it('reuses verdicts in the log, earlier answers and requests in progress', async () => {
    const { newVerdict, client, server } = await askOf(() => ({ delayMs: 20 }));
    const request = requestTo(server.endpoint);
    await Promise.all([client.ask(request, []), client.ask(request, [])]);
    const other = new JudgeClient();
    const fromLog = await other.ask(request, newVerdict === null ? [] : [newVerdict]);
    expect(fromLog).toMatchObject({ answer: { score: 0.5 }, newVerdict: null });
    expect(server.requests).toHaveLength(1);
    await other.ask(
      requestTo(server.endpoint, { user: 'another episode' }),
      newVerdict === null ? [] : [newVerdict],
    );
    expect(server.requests).toHaveLength(2);
  });

  it('never exceeds the limit of concurrent requests', async () => {
    server = await startJudgeServer(() => ({ delayMs: 20 }));
    const { endpoint } = server;
    const client = new JudgeClient();
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        client.ask(requestTo(endpoint, { user: `episode ${n}`, concurrency: 3 }), []),
      ),
    );
    expect(server.maxAtOnce()).toBe(3);
    expect(server.requests).toHaveLength(12);
  });

  it('stops asking an unavailable judge', async () => {
    server = await startJudgeServer();
    const { endpoint } = server;
    await server.close();
    server = null;
    const client = new JudgeClient({ firstRetryMs: 1, maxFailuresInARow: 3 });
    const reasons: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { answer } = await client.ask(requestTo(endpoint, { user: String(n), maxRetries: 1 }), []);
      reasons.push(answer.kind === 'none' ? answer.reason : '');
    }
    expect(reasons.slice(0, 3).every((reason) => reason.includes('ECONNREFUSED'))).toBe(true);
    expect(reasons.slice(3)).toEqual(
      Array(2).fill('judge: not asked, after 3 questions in a row without an answer'),
    );
    expect(client.usage).toMatchObject({ numRequests: 6, numUnanswered: 5 });
  });

  it('tries one question after a pause, and resumes once it is answered', async () => {
    let isDown = true;
    server = await startJudgeServer(() => (isDown ? { status: 503 } : { delayMs: 20 }));
    const { endpoint, requests } = server;
    const client = new JudgeClient({ firstRetryMs: 1, maxFailuresInARow: 3, downPauseMs: 30_000 });
    vi.useFakeTimers({ toFake: ['performance'] });
    let numAsked = 0;
    const askAtOnce = (n: number) =>
      Promise.all(
        Array.from({ length: n }, async () => {
          const request = requestTo(endpoint, { user: String(numAsked++), maxRetries: 0, concurrency: 9 });
          const { answer } = await client.ask(request, []);
          return answer.kind;
        }),
      );
    await askAtOnce(3);
    await askAtOnce(2);
    expect(requests).toHaveLength(3);
    vi.advanceTimersByTime(30_000);
    // Still down: one probe alone, then another pause.
    await askAtOnce(4);
    expect(requests).toHaveLength(4);
    await askAtOnce(2);
    expect(requests).toHaveLength(4);
    isDown = false;
    vi.advanceTimersByTime(30_000);
    expect((await askAtOnce(4)).sort()).toEqual(['none', 'none', 'none', 'verdict']);
    expect(await askAtOnce(4)).toEqual(Array(4).fill('verdict'));
    expect(requests).toHaveLength(9);
  });

  it('keeps asking a judge while another one is unavailable', async () => {
    server = await startJudgeServer();
    const down = await startJudgeServer();
    await down.close();
    const client = new JudgeClient({ firstRetryMs: 1, maxFailuresInARow: 1 });
    await client.ask(requestTo(down.endpoint, { maxRetries: 0 }), []);
    const { answer } = await client.ask(requestTo(server.endpoint, { user: 'another' }), []);
    expect(answer.kind).toBe('verdict');
  });

  it('does not count refused requests, or requests that it could not send, as failures of the service', async () => {
    server = await startJudgeServer((n) => (n < 3 ? { status: 400, body: 'too long' } : {}));
    const { endpoint } = server;
    const client = new JudgeClient({ firstRetryMs: 1, maxFailuresInARow: 2 });
    for (let n = 0; n < 3; n++) await client.ask(requestTo(endpoint, { user: String(n) }), []);
    for (let n = 3; n < 6; n++) {
      await client.ask(requestTo(endpoint, { user: String(n), apiKeyVariable: 'KEY' }), []);
    }
    const { answer } = await client.ask(requestTo(endpoint, { user: 'good' }), []);
    expect(answer.kind).toBe('verdict');
  });
});
