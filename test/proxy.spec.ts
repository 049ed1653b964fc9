import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import {
  startOpenAiServer,
  type ModelReply,
  type ModelRequest,
  type OpenAiServer,
} from '@retrace/openai-server';
import { startProxy, type ProxyConfig, type RunningProxy } from '@retrace/gateway/proxy';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RecordedRuns } from './support/recorded-run.js';

type Model = (request: ModelRequest) => ModelReply | Promise<ModelReply>;

let runs: RecordedRuns;
let directory: string;
let opened: { close(): Promise<void> }[] = [];
let numRuns = 0;

beforeAll(async () => {
  runs = await RecordedRuns.open();
  directory = await mkdtemp(join(tmpdir(), 'retrace-proxy-'));
});

afterEach(async () => {
  for (const each of opened.reverse()) await each.close();
  opened = [];
});

afterAll(async () => {
  await runs?.close();
  await rm(directory, { recursive: true, force: true });
});

/** Sampling of the model's own distribution, stated whole. */
const NEUTRAL = { temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 };

interface Opened {
  readonly proxy: RunningProxy;
  readonly upstream: OpenAiServer;
  readonly warnings: string[];
  readonly run: string;
}

async function openProxy(
  model: Model,
  { engine = 'openai', ...config }: Partial<ProxyConfig> & { readonly engine?: 'openai' | 'vllm' } = {},
): Promise<Opened> {
  const upstream = await startOpenAiServer(model, { engine });
  const run = `proxied ${numRuns++}`;
  const warnings: string[] = [];
  const proxy = await startProxy(
    { ...configOf(upstream, run), ...config },
    { warn: (message) => warnings.push(message) },
  );
  opened.push(upstream, proxy);
  return { proxy, upstream, warnings, run };
}

function agentOf({ proxy }: Opened, episode: string | null, headers: Record<string, string> = {}): OpenAI {
  const path = episode === null ? '/v1' : `/e/${encodeURIComponent(episode)}/v1`;
  return new OpenAI({ baseURL: `${proxy.url}${path}`, apiKey: 'k', maxRetries: 0, defaultHeaders: headers });
}

interface ProxiedEpisode {
  readonly name: string;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly [column: string]: unknown;
}

/** Episodes of the run as SQL shows them, in the order in which they began. */
async function storedEpisodes({ proxy, run }: Opened, columns = ''): Promise<ProxiedEpisode[]> {
  await expect
    .poll(
      async () => {
        const health = (await (await fetch(`${proxy.url}/health`)).json()) as {
          retrace: { numPending: number };
        };
        return health.retrace.numPending;
      },
      { timeout: 120_000 },
    )
    .toBe(0);
  await runs.api.storeHasCaughtUp();
  const where = `WHERE run_id = (SELECT run_id FROM runs WHERE name = '${run}')`;
  const steps = await runs.retrace.rows(
    `SELECT episode_id, step, messages, model, engine, input_tokens, output_tokens, temperature, untrainable, info, token_ids, action_mask, token_logprobs, kept_prefix_tokens, logprob_mode ${columns} FROM steps ${where} ORDER BY episode_id, step`,
  );
  const episodes = await runs.retrace.rows(
    `SELECT episode_id, external_id, parent_episode_id, end_reason, end_detail, success, group_id, group_size, group_member, tags, task FROM episodes ${where} ORDER BY started_at, episode_id`,
  );
  const forks = await runs.retrace.rows(
    `SELECT episode_id, JSONExtractString(payload, 'forkedFrom', 'episodeId') AS parent, JSONExtractUInt(payload, 'forkedFrom', 'step') AS step FROM events ${where} AND kind = 'EpisodeStarted' AND parent != ''`,
  );
  return episodes.map((episode) => ({
    ...episode,
    fork: forks
      .filter(({ episode_id }) => episode_id === episode.episode_id)
      .map(({ parent, step }) => [parent, step]),
    name: episode.external_id as string,
    steps: steps
      .filter(({ episode_id }) => episode_id === episode.episode_id)
      .map((step) => ({
        ...step,
        messages: JSON.parse(step.messages as string) as unknown,
        info: JSON.parse(step.info as string) as unknown,
      })),
  }));
}

const user = (content: string) => ({ role: 'user' as const, content });
const system = (content: string) => ({ role: 'system' as const, content });
const assistant = (content: string) => ({ role: 'assistant' as const, content });

describe('a proxy', () => {
  it('records a conversation as SQL shows it, with what each step added, streamed or not', async () => {
    const at = await openProxy(({ question }) => ({ content: `You said ${question}.` }));
    const headers = { 'x-retrace-group': 'g', 'x-retrace-group-size': '2', 'x-retrace-tags': 'a, b' };
    const agent = agentOf(at, 'order-17', { ...headers, 'x-retrace-task': '{"ticket": 17}' });
    const messages: OpenAI.ChatCompletionMessageParam[] = [system('Be brief.'), user('one')];
    const first = await agent.chat.completions.create({ model: 'm', temperature: 0.5, messages });
    messages.push(first.choices[0].message, user('two'));
    const stream = await agent.chat.completions.create({ model: 'm', messages, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('You said two.');
    const ended = await fetch(`${at.proxy.url}/e/order-17/end`, {
      method: 'POST',
      body: '{"success": true}',
    });
    expect(ended.status).toBe(202);
    const rewarded = await fetch(`${at.proxy.url}/e/order-17/reward`, {
      method: 'POST',
      body: '{"name": "thumbs", "value": 1, "source": "ada"}',
    });
    expect(rewarded.status).toBe(202);
    const [episode, ...others] = await storedEpisodes(at);
    expect(others).toEqual([]);
    expect(episode).toMatchObject({
      name: 'order-17',
      end_reason: 'terminated',
      success: true,
      group_id: 'g',
      group_size: 2,
      group_member: 0,
      tags: ['a', 'b'],
      task: '{"ticket":17}',
    });
    expect(episode.steps).toMatchObject([
      {
        messages: { input: [system('Be brief.'), user('one')], output: assistant('You said one.') },
        model: 'm',
        temperature: 0.5,
        untrainable: 'no token ids',
        info: { protocol: 'chat-completions', finishReason: 'stop', responseId: 'chatcmpl-1' },
      },
      { messages: { input: [user('two')], output: assistant('You said two.') }, temperature: null },
    ]);
    expect(
      await runs.retrace.rows(
        `SELECT name, value, source FROM current_rewards WHERE episode_id = '${episode.episode_id as string}'`,
      ),
    ).toEqual([{ name: 'thumbs', value: 1, source: 'ada' }]);
    expect(at.warnings).toEqual([]);
  });

  it('asks vLLM for token ids and log-probabilities, records them, and shows the client none of it', async () => {
    const said: Model = ({ question }) => ({ content: `You said ${question}.` });
    const at = await openProxy(said, { engine: 'vllm' });
    const body = { model: 'm', ...NEUTRAL, messages: [system('Be brief.'), user('one')] };
    const direct = await (await post(`${at.upstream.url}/chat/completions`, body)).json();
    const proxied = await (await post(`${at.proxy.url}/e/x/v1/chat/completions`, body)).json();
    expect({ ...(proxied as object), id: '' }).toEqual({ ...(direct as object), id: '' });
    const more = {
      ...body,
      stream: true,
      messages: [...body.messages, assistant('You said one.'), user('two')],
    };
    const directEvents = await (await post(`${at.upstream.url}/chat/completions`, more)).text();
    const events = await (await post(`${at.proxy.url}/e/x/v1/chat/completions`, more)).text();
    expect(withoutIds(events)).toEqual(withoutIds(directEvents));
    const [{ steps }] = await storedEpisodes(at);
    const sent = at.upstream.requests.map(({ body: given }) => given);
    expect(sent[1]).toMatchObject({ return_token_ids: true, logprobs: true });
    expect(sent[3]).toMatchObject({ stream_options: { include_usage: true } });
    expect(steps).toMatchObject([
      { engine: 'vllm', logprob_mode: 'raw', untrainable: '', kept_prefix_tokens: 0 },
      { engine: 'vllm', logprob_mode: 'raw', untrainable: '', output_tokens: 4 },
    ]);
    // The same engine gives its second answer to the same request, asked with the same fields.
    const asked = { ...body, return_token_ids: true, logprobs: true };
    const other = await startOpenAiServer(said, { engine: 'vllm' });
    opened.push(other);
    await post(`${other.url}/chat/completions`, asked);
    const answer = (await (await post(`${other.url}/chat/completions`, asked)).json()) as VllmAnswer;
    const [{ token_ids: sampled, logprobs }] = answer.choices;
    expect(steps[0].token_ids).toEqual([...answer.prompt_token_ids, ...sampled]);
    expect(steps[0].action_mask).toEqual([...answer.prompt_token_ids.map(() => 0), ...sampled.map(() => 1)]);
    const recorded = (steps[0].token_logprobs as number[]).slice(answer.prompt_token_ids.length);
    recorded.forEach((value, i) => {
      expect(value).toBeCloseTo(logprobs.content[i].logprob, 5);
    });
    expect(steps[1].kept_prefix_tokens).toBeGreaterThan(0);
  });

  it('knows the sampling of vLLM where all of it is stated, by the agent or by the proxy, and no other', async () => {
    const asked = async (name: string, config: Partial<ProxyConfig>) => {
      const at = await openProxy(() => ({ content: 'yes' }), { engine: 'vllm', ...config });
      const body = { model: 'm', temperature: 0.5, top_p: 0.9, messages: [user('one')] };
      await post(`${at.proxy.url}/e/${name}/v1/chat/completions`, body);
      const [{ steps }] = await storedEpisodes(at, ', top_p, top_k');
      return { sent: at.upstream.requests[0].body, step: steps[0] };
    };
    const left = await asked('left', {});
    expect(left.sent).not.toHaveProperty('top_k');
    expect(left.step).toMatchObject({
      temperature: null,
      info: { statedSampling: { temperature: 0.5, top_p: 0.9 } },
      untrainable:
        'sampling parameters unknown; top_k, min_p, repetition_penalty left to the server, which takes them from its model',
    });
    const neutral = await asked('neutral', { neutralSampling: true, logprobMode: 'processed' });
    expect(neutral.sent).toMatchObject({ top_k: -1, min_p: 0, repetition_penalty: 1, top_p: 0.9 });
    expect(neutral.step).toMatchObject({
      ...{ temperature: 0.5, top_p: 0.9, top_k: 0 },
      untrainable: 'sampled with top-k or top-p',
    });
  });

  it('makes episodes of forks, retries and sub-agents, and finds conversations without a name by their prompt', async () => {
    const at = await openProxy(({ question, input }) => ({
      content: question === 'delegate' ? '' : `${input.length} ${question}`,
      ...(question === 'delegate' && { toolCalls: [{ id: 'c1', name: 'ask', arguments: {} }] }),
    }));
    const named = agentOf(at, 'root');
    const call = (messages: OpenAI.ChatCompletionMessageParam[], agent = named) =>
      agent.chat.completions.create({ model: 'm', messages });
    const opening = [system('Plan.'), user('delegate')];
    const first = await call(opening);
    const sub = await call([system('Search.'), user('find it')]);
    await call([system('Search.'), user('find it'), sub.choices[0].message, user('more')]);
    const result = { role: 'tool' as const, tool_call_id: 'c1', content: 'found' };
    await call([...opening, first.choices[0].message, result]);
    await call([...opening, first.choices[0].message, { ...result, content: 'found otherwise' }]);
    const unnamed = agentOf(at, null);
    for (const name of ['a', 'b']) {
      const one = await call([user(`task ${name}`)], unnamed);
      await call([user(`task ${name}`), one.choices[0].message, user('go on')], unnamed);
    }
    await fetch(`${at.proxy.url}/e/root/end`, { method: 'POST' });
    const episodes = await storedEpisodes(at);
    const [root, search, fork, a, b, ...others] = episodes;
    expect(others).toEqual([]);
    expect(episodes.map(({ steps }) => steps.length)).toEqual([2, 2, 1, 2, 2]);
    expect(search.parent_episode_id).toBe(root.episode_id);
    expect(fork).toMatchObject({
      fork: [[root.episode_id, 1]],
      end_reason: 'terminated',
    });
    expect(root).toMatchObject({
      end_reason: 'abandoned',
      end_detail: `it went on as episode ${fork.episode_id as string}`,
    });
    expect(search.end_reason).toBe('terminated');
    expect([a.end_reason, b.parent_episode_id]).toEqual([null, null]);
    expect(b.steps[1].messages).toEqual({ input: [user('go on')], output: assistant('3 go on') });
  });

  it('passes errors on, records them, and goes on at the same place after a retry', async () => {
    let n = 0;
    const at = await openProxy(() => (n++ === 0 ? { status: 503, content: 'busy' } : { content: 'fine' }));
    const url = `${at.proxy.url}/e/retried/v1/chat/completions`;
    const body = { model: 'm', messages: [user('hi')] };
    const failed = await post(url, body);
    expect([failed.status, await failed.json()]).toMatchObject([503, { error: { message: 'busy' } }]);
    expect((await post(url, body)).status).toBe(200);
    const [{ steps }, ...others] = await storedEpisodes(at);
    expect(others).toEqual([]);
    expect(steps).toMatchObject([
      {
        messages: { input: [user('hi')], output: null },
        untrainable: 'no token ids; the call failed',
        info: { error: { status: 503, message: 'busy' } },
      },
      { messages: { input: [], output: assistant('fine') } },
    ]);
  });

  it('cancels the upstream when the client goes away, and records what came until then', async () => {
    const at = await openProxy(() => ({ content: 'word '.repeat(500), betweenMs: 5 }));
    const body = JSON.stringify({ model: 'm', stream: true, messages: [user('talk')] });
    await new Promise<void>((resolve) => {
      const sent = httpRequest(
        `${at.proxy.url}/e/cut/v1/chat/completions`,
        { method: 'POST' },
        (response) => {
          response.once('data', () => {
            response.destroy();
            resolve();
          });
        },
      );
      sent.end(body);
    });
    await expect
      .poll(
        async () => (await (await fetch(`${at.proxy.url}/metrics`)).text()).match(/open_calls (\d+)/)?.[1],
        { timeout: 120_000 },
      )
      .toBe('0');
    const [{ steps }] = await storedEpisodes(at);
    expect(steps).toMatchObject([
      {
        untrainable: 'no token ids; the answer was cut off',
        messages: { output: null },
        info: { isCut: true },
      },
    ]);
  });

  it('cuts a step at an event that can not be read, and says of another that tokens are missing', async () => {
    const ids = [100, 101, 102, 103, 104];
    const chunks = [
      { prompt_token_ids: [1, 2], choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
      ...ids.map((id) => ({
        choices: [
          {
            index: 0,
            delta: { content: `${id} ` },
            token_ids: [id],
            logprobs: { content: [{ logprob: -1 }] },
          },
        ],
      })),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 2, completion_tokens: 5 } },
    ].map((chunk) => JSON.stringify(chunk));
    const answers = [chunks.with(3, '{"choices": [{"ind'), chunks.toSpliced(3, 1), chunks];
    const engine = createServer((_, response) => {
      const events = [...(answers.shift() ?? []), '[DONE]'].map((data) => `data: ${data}\n\n`);
      response.setHeader('content-type', 'text/event-stream').end(events.join(''));
    });
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
    opened.push({ close: () => new Promise((resolve) => engine.close(() => resolve())) });
    const { port } = engine.address() as AddressInfo;
    const at = await openProxy(() => ({ content: 'x' }), {
      upstream: `http://127.0.0.1:${port}`,
      upstreamKind: 'vllm',
    });
    for (const episode of ['unreadable', 'missing', 'whole']) {
      const body = { model: 'm', stream: true, ...NEUTRAL, messages: [user('count')] };
      const answer = await post(`${at.proxy.url}/e/${episode}/v1/chat/completions`, body);
      expect(await answer.text()).toContain('104 ');
    }
    const stored = await storedEpisodes(at);
    expect(stored.map(({ name, steps: [step] }) => [name, step])).toMatchObject([
      [
        'unreadable',
        {
          messages: { output: null },
          token_ids: [],
          info: {
            isCut: true,
            hole: 'an event of the answer could not be read',
            partialOutput: { content: '100 101 ' },
          },
        },
      ],
      [
        'missing',
        {
          messages: { output: { content: '100 101 103 104 ' } },
          untrainable: '4 sampled token ids where the usage says 5',
          info: { hole: '4 sampled token ids where the usage says 5' },
        },
      ],
      ['whole', { untrainable: '', token_ids: [1, 2, ...ids], output_tokens: 5 }],
    ]);
    expect(stored[0].steps[0].untrainable).not.toBe('');
  });

  it('gives up nothing of the agent when neither Retrace nor the upstream answers', async () => {
    const at = await openProxy(() => ({ content: 'x' }), {
      retraceUrl: 'http://127.0.0.1:9',
      upstream: 'http://127.0.0.1:9',
    });
    const answer = await post(`${at.proxy.url}/v1/chat/completions`, { model: 'm', messages: [user('hi')] });
    expect([answer.status, await answer.json()]).toMatchObject([
      502,
      { error: { type: 'upstream_unreachable' } },
    ]);
    expect((await fetch(`${at.proxy.url}/v1/models`)).status).toBe(502);
  });

  it('passes other paths, and calls that it can not record, as they are', async () => {
    const at = await openProxy(() => ({ content: 'fine' }), { maxBodyBytes: 1_000 });
    expect(await (await fetch(`${at.proxy.url}/v1/models`)).json()).toMatchObject({ object: 'list' });
    const large = { model: 'm', messages: [user('x'.repeat(5_000))] };
    expect((await post(`${at.proxy.url}/v1/chat/completions`, large)).status).toBe(200);
    expect(at.upstream.requests[0].body).toEqual(large);
    const metrics = await (await fetch(`${at.proxy.url}/metrics`)).text();
    expect(metrics).toContain('retrace_proxy_unrecorded_total{reason="too_large"} 1');
    const keyed = { ...large, messages: [user('short')] };
    await post(`${at.proxy.url}/v1/chat/completions`, keyed, {
      authorization: 'Bearer retrace:by-key',
      'x-retrace-run': 'never upstream',
    });
    const { headers } = at.upstream.requests[1];
    expect(Object.keys(headers).filter((name) => /retrace|authorization/.test(name))).toEqual([]);
  });

  it('goes on with the same episodes after a restart', async () => {
    const at = await openProxy(({ question }) => ({ content: question }));
    const messages: OpenAI.ChatCompletionMessageParam[] = [user('one')];
    const first = await agentOf(at, 'long').chat.completions.create({ model: 'm', messages });
    await at.proxy.close();
    opened.pop();
    const next = await startProxy(configOf(at.upstream, at.run), {
      warn: (message) => at.warnings.push(message),
    });
    opened.push(next);
    messages.push(first.choices[0].message, user('two'));
    await agentOf({ ...at, proxy: next }, 'long').chat.completions.create({ model: 'm', messages });
    const [{ steps }, ...others] = await storedEpisodes({ ...at, proxy: next });
    expect(others).toEqual([]);
    expect(steps.map(({ messages: added }) => added)).toEqual([
      { input: [user('one')], output: assistant('one') },
      { input: [user('two')], output: assistant('two') },
    ]);
    expect(at.warnings).toEqual([]);
  });
});

interface VllmAnswer {
  readonly prompt_token_ids: number[];
  readonly choices: {
    readonly token_ids: number[];
    readonly logprobs: { readonly content: { readonly logprob: number }[] };
  }[];
}

function configOf(upstream: OpenAiServer, run: string): ProxyConfig {
  return {
    upstream: upstream.url,
    upstreamKind: null,
    upstreamKey: null,
    upstreamTimeoutMs: 10_000,
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    retraceUrl: runs.api.api.url,
    retraceKey: null,
    run,
    stateDirectory: join(directory, run),
    idleMs: 600_000,
    maxBodyBytes: 1024 ** 2,
    logprobMode: null,
  };
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** Events without the ids that differ between two calls. */
function withoutIds(events: string): unknown[] {
  return events
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => ({ ...(JSON.parse(event.slice('data: '.length)) as object), id: '' }));
}
