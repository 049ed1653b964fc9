import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { uuidV7, type RetraceError, type RunRecord } from '@retrace/client';
import { startProxy, type RunningProxy } from '@retrace/gateway/proxy';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RecordedRuns } from './support/recorded-run.js';

let runs: RecordedRuns;
let upstream: Server;
let proxy: RunningProxy;
let directory: string;
const RUN = 'anything';

/** Answers each call with a completion; fields of `answer` in the request replace those of the answer. */
function startUpstream(): Promise<Server> {
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const { answer = {} } = JSON.parse(bytes.toString()) as { answer?: object };
      const message = { role: 'assistant', content: 'fine' };
      const body = {
        id: 'x',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
        ...answer,
      };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

beforeAll(async () => {
  runs = await RecordedRuns.open();
  directory = await mkdtemp(join(tmpdir(), 'retrace-storable-'));
  upstream = await startUpstream();
  proxy = await startProxy(
    {
      upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      ...{
        upstreamKind: 'other',
        upstreamKey: null,
        upstreamTimeoutMs: 60_000,
        host: '127.0.0.1',
        port: 0,
        allowedHosts: [],
      },
      ...{ retraceUrl: runs.api.api.url, retraceKey: null, run: RUN, stateDirectory: directory },
      ...{ idleMs: 600_000, maxBodyBytes: 32 * 1024 ** 2, logprobMode: null },
    },
    { warn: () => undefined },
  );
});

afterAll(async () => {
  await proxy?.close();
  upstream?.close();
  await runs?.close();
  await rm(directory, { recursive: true, force: true });
});

interface Health {
  readonly status: string;
  readonly retrace: { readonly numPending: number; readonly numRefused: number };
  readonly damagedEpisodes: readonly {
    readonly episode: string;
    readonly outcome: string;
    readonly reasons: readonly string[];
  }[];
}

async function healthOf(): Promise<Health> {
  return (await (await fetch(`${proxy.url}/health`)).json()) as Health;
}

/** Sends a request as JSON text, since some of what an agent can send is no value of JavaScript. */
async function call(name: string, json: string, path = 'chat/completions', run = RUN): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-retrace-run': run };
  const response = await fetch(`${proxy.url}/e/${name}/v1/${path}`, { method: 'POST', headers, body: json });
  await response.arrayBuffer();
  return response.status;
}

async function endOf(name: string, run = RUN): Promise<number> {
  const headers = { 'x-retrace-run': run };
  const body = '{"success": true}';
  return (await fetch(`${proxy.url}/e/${name}/end`, { method: 'POST', headers, body })).status;
}

async function everythingStored(): Promise<void> {
  await vi.waitFor(async () => expect((await healthOf()).retrace.numPending).toBe(0), { timeout: 100_000 });
  await runs.api.storeHasCaughtUp();
}

interface StoredEpisode {
  readonly external_id: string;
  readonly end_reason: string | null;
  readonly success: boolean | null;
  readonly num_steps: number;
  readonly untrainable: readonly string[];
  readonly messages: readonly string[];
}

/** Episodes whose names begin so, with the texts of their steps. */
async function storedEpisodes(prefix: string): Promise<readonly StoredEpisode[]> {
  await everythingStored();
  return (await runs.retrace.rows(
    `SELECT external_id, any(end_reason) AS end_reason, any(success) AS success, count(s.step) AS num_steps,
       groupArray(s.untrainable) AS untrainable, groupArray(substring(s.messages, 1, 200)) AS messages
     FROM episodes e JOIN (SELECT * FROM steps ORDER BY step) s ON e.episode_id = s.episode_id
     WHERE startsWith(external_id, '${prefix}') GROUP BY external_id ORDER BY external_id`,
  )) as unknown as readonly StoredEpisode[];
}

const user = (content: unknown) => ({ role: 'user', content });
const ANSWERED = { role: 'assistant', content: 'fine' };

/** JSON that is nested too deep for `JSON.stringify`. */
const VERY_DEEP = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

/** Three calls of one conversation; the second one adds `message`. */
async function converse(name: string, message: unknown, more: object = {}): Promise<void> {
  const messages: unknown[] = [user('hi')];
  for (const added of [null, message, user('turn 2')]) {
    if (added !== null) messages.push(ANSWERED, added);
    const body = JSON.stringify({ model: 'm', messages, ...more }).replace('"very deep"', VERY_DEEP);
    expect(await call(name, body)).toBe(200);
  }
  expect(await endOf(name)).toBe(202);
}

function nested(depth: number): unknown {
  return Array.from({ length: depth }).reduce<unknown>((inner) => ({ a: inner }), 1);
}

/** The second message of a conversation, what else its calls have, and why its step can't be trained on. */
const GIVEN: readonly (readonly [title: string, message: unknown, more: object, reason: RegExp])[] = [
  ['half an emoji', user('tool output cut \ud83d'), {}, /half a character/],
  ['5 MB', user('x'.repeat(5_000_000)), {}, /^no token ids$/],
  ['20 MB', user('x'.repeat(20_000_000)), {}, /messages: it was cut/],
  [
    'deep tools',
    user('x'),
    { tools: [{ type: 'function', function: { parameters: nested(250) } }] },
    /nested/,
  ],
  ['very deep tools', user('x'), { tools: [{ function: { parameters: 'very deep' } }] }, /nested/],
  [
    'impossible usage',
    user('x'),
    { answer: { usage: { prompt_tokens: -1, completion_tokens: 2.5 } } },
    /usage/,
  ],
  [
    'impossible sampling',
    user('x'),
    { temperature: -5, top_p: 9, seed: 1e30, max_tokens: -1, n: 0 },
    /sampling/,
  ],
  [
    'a long model',
    user('x'),
    { model: 'm'.repeat(300), metadata: { a: 'b'.repeat(5000) } },
    /model: it was cut/,
  ],
  ['an empty role', { role: '', content: 5 }, {}, /chat message/],
  ['nothing', { role: 'user', content: null }, {}, /^no token ids$/],
  ['null parts', user([null, 5, { type: 7, text: 1 }]), {}, /^no token ids$/],
];

const nameOf = (title: string) => `given-${title.replaceAll(' ', '-')}`;

describe('a proxied conversation', () => {
  const stored = new Map<string, StoredEpisode>();

  // All of them before they are looked at, so that the store is waited for once.
  beforeAll(async () => {
    for (const [title, message, more] of GIVEN) await converse(nameOf(title), message, more);
    for (const episode of await storedEpisodes('given-')) stored.set(episode.external_id, episode);
  });

  it.each(GIVEN)('with %s is stored with all its calls and its end', (title, _message, _more, reason) => {
    const episode = stored.get(nameOf(title));
    expect(episode).toMatchObject({ num_steps: 3, end_reason: 'terminated', success: true });
    // Tools are a part of the step in which they come first.
    expect(episode?.untrainable.some((reasons) => reason.test(reasons))).toBe(true);
  });

  it('with token ids and logprobs that are impossible keeps its numbering and its later tokens', async () => {
    const answer = (ids: number[], logprob: number) => ({
      prompt_token_ids: [1, 2, 3],
      usage: { prompt_tokens: 3, completion_tokens: ids.length },
      choices: [
        {
          ...{ message: ANSWERED, token_ids: ids },
          logprobs: { content: ids.map(() => ({ logprob })) },
        },
      ],
    });
    const messages: unknown[] = [user('hi')];
    const answers = [answer([4], -1), answer([3_000_000_000], -1), answer([5], 0.5), answer([6], -0.5)];
    for (const given of answers) {
      await call('given-tokens', JSON.stringify({ model: 'm', temperature: 1, messages, answer: given }));
      messages.push(ANSWERED, user('more'));
    }
    await endOf('given-tokens');
    const [episode] = await storedEpisodes('given-tokens');
    expect(episode).toMatchObject({ num_steps: 4, end_reason: 'terminated' });
    expect(episode.untrainable).toEqual([
      '',
      'no token ids; made storable: tokens: they were left out, as they are impossible',
      'no behavior logprobs; made storable: tokens.logprobs[]: an impossible value was left out',
      '',
    ]);
  });

  it('whose tools have a property "__proto__" is stored, and health names what was made poorer', async () => {
    const tools =
      '[{"type":"function","function":{"name":"f","parameters":{"__proto__":{"type":"string"}}}}]';
    const body = `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":${tools}}`;
    expect(await call('given-proto', body)).toBe(200);
    await endOf('given-proto');
    const [episode] = await storedEpisodes('given-proto');
    expect(episode).toMatchObject({ num_steps: 1, end_reason: 'terminated' });
    const { status, retrace, damagedEpisodes } = await healthOf();
    expect([status, retrace.numRefused]).toEqual(['ok', 0]);
    expect(damagedEpisodes.at(-1)).toMatchObject({
      outcome: 'poorer',
      reasons: ['info: a name was replaced'],
    });
    const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
    expect(Number(/^retrace_proxy_poorer_episodes (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  });

  it('of any JSON gives as many steps as calls, and an end', { tags: 'release' }, async () => {
    // Texts may have lone halves of surrogate pairs: `unit: 'binary'` draws from all code points.
    const json = fc.jsonValue({ depthSize: 'small', stringUnit: 'binary' });
    const message = fc.record(
      { role: json, content: json, tool_calls: json, name: json },
      { requiredKeys: [] },
    );
    const request = fc.record(
      {
        messages: fc.oneof(json, fc.array(fc.oneof(json, message), { maxLength: 4 })),
        ...{ tools: json, temperature: json, top_p: json, max_tokens: json, model: json, functions: json },
        answer: fc.record({ usage: json, choices: json, model: json, id: json }, { requiredKeys: [] }),
      },
      { requiredKeys: ['messages'] },
    );
    const paths = fc.constantFrom('chat/completions', 'completions', 'responses', 'messages');
    let numCalls = 0;
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), paths, async (requests, path) => {
        const name = `any-${n++}`;
        for (const body of requests) {
          const json = JSON.stringify({ prompt: `${n}`, input: body.messages, ...body });
          expect(await call(name, json, path, 'property')).toBe(200);
          numCalls++;
        }
        expect(await endOf(name, 'property')).toBe(202);
      }),
      { numRuns: 60 },
    );
    await everythingStored();
    const [counts] = await runs.retrace.rows(
      `SELECT sum(num_steps) AS num_steps, countIf(end_reason IS NULL) AS num_open, countIf(external_id != '') AS num_named
       FROM episodes WHERE run_id IN (SELECT run_id FROM runs WHERE name = 'property')`,
    );
    expect(Object.values(counts).map(Number)).toEqual([numCalls, 0, n]);
    expect((await healthOf()).retrace.numRefused).toBe(0);
  });
});

describe('records that were made storable', () => {
  it('are all taken by the server as they are', { tags: 'release' }, async () => {
    const run = await runs.start({
      name: `vectors \ud83d ${'n'.repeat(300)}`,
      metadata: { large: 'x'.repeat(2_000_000) },
    });
    const vectors = JSON.parse(
      await readFile(new URL('../clients/vectors/storable-records.json', import.meta.url), 'utf8'),
    ) as {
      name: string;
      record: { type: string; episode: string; step?: number; numSteps?: number };
      stored: unknown;
    }[];
    for (const { record, stored } of vectors) {
      if (stored === null || JSON.stringify(stored).includes('"$times":1000000')) continue;
      const given = JSON.parse(JSON.stringify(record), (_, value: unknown) => written(value)) as RunRecord;
      const episode = given.episode.length > 200 ? given.episode : uuidV7();
      if (given.type !== 'episode') run.record({ type: 'episode', episode });
      const numBefore = given.type === 'step' ? given.step : given.type === 'end' ? (given.numSteps ?? 0) : 0;
      for (let step = 0; step < numBefore; step++) run.record({ type: 'step', episode, step });
      run.record({ ...given, episode });
      if (given.type !== 'end') run.record({ type: 'end', episode });
      expect(await runs.retrace.flush({ timeoutMs: 100_000 })).toBe(true);
    }
    run.end();
    expect(await runs.retrace.flush({ timeoutMs: 100_000 })).toBe(true);
    const errors = runs.errors as unknown as readonly RetraceError[];
    expect(
      errors.filter(({ code }) => code !== 'POORER').map(({ message }) => message.slice(0, 500)),
    ).toEqual([]);
    expect(errors.filter(({ message }) => message.includes('server refused'))).toEqual([]);
    expect(runs.retrace.stats).toMatchObject({ numRefused: 0, numDropped: 0 });
  });
});

/** A value that a vector writes short. */
function written(value: unknown): unknown {
  const {
    $text,
    $list,
    $times = 0,
    $nested,
    $number,
  } = (value ?? {}) as Readonly<
    Partial<{ $text: string; $list: unknown; $times: number; $nested: number; $number: string }>
  >;
  if ($text !== undefined) return $text.repeat($times);
  if ($list !== undefined) return Array.from({ length: $times }, () => $list);
  if ($nested !== undefined) return nested($nested);
  return $number === undefined ? value : Number($number);
}
