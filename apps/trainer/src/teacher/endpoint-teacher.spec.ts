import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TeacherEndpointRecipe } from '@retrace/config';
import { createTokenizer } from '@retrace/policy';
import { FINAL_FAILURE_EXIT_CODE } from '@retrace/process';
import type { TokenBatch } from '@retrace/trajectory';
import { afterEach, describe, expect, it } from 'vitest';
import { EndpointTeacher } from './endpoint-teacher.js';

interface Asked {
  readonly route: string;
  readonly body: { readonly prompt?: unknown };
}

/** Answers of a server, by route: a vLLM of a model whose logprob of token t at position p is −t − p / 8. */
const VLLM: Record<string, (asked: Asked) => readonly [status: number, body: unknown]> = {
  'GET /version': () => [200, { version: '0.32.0' }],
  'GET /v1/models': () => [200, { data: [{ id: 'teacher', root: '/models/teacher', max_model_len: 17 }] }],
  'POST /tokenize': ({ body }) => [200, { tokens: [...tokenizer.encode(String(body.prompt))] }],
  'POST /v1/completions': ({ body }) => {
    const entries = (body.prompt as number[]).map((id, n) =>
      n === 0 ? null : { [id]: { logprob: -id - n / 8 } },
    );
    return [200, { choices: [{ prompt_logprobs: entries }] }];
  },
};

const tokensOf = (body: unknown): number[] =>
  (body as { readonly prompt: { readonly chunks: { readonly tokens: number[] }[] } }).prompt.chunks[0].tokens;

/** A server of the Tinker API with the same model. */
function tinker(told: (entries: (number | null)[]) => (number | null)[]): typeof VLLM {
  const prompts: number[][] = [];
  return {
    'GET /api/v1/healthz': () => [200, { status: 'ok' }],
    'POST /api/v1/asample': ({ body }) => [200, { request_id: `${prompts.push(tokensOf(body)) - 1}` }],
    'POST /api/v1/retrieve_future': ({ body }) => {
      const { request_id: id } = body as { readonly request_id: string };
      const entries = prompts[Number(id)].map((token, n) => (n === 0 ? null : -token - n / 8));
      const sequences = [{ tokens: [1], logprobs: [-1], stop_reason: 'length' }];
      return [200, { type: 'sample', sequences, prompt_logprobs: told(entries) }];
    },
  };
}

const tokenizer = createTokenizer('byte', []);
/** Two sequences, of five tokens and of four; of the first, the two last are not asked about. */
const BATCH = {
  tokenIds: Int32Array.of(9, 8, 7, 6, 5, 1, 2, 3, 4),
  sequenceOffsets: Int32Array.of(0, 5, 9),
  actionTokens: Int32Array.of(1, 2, 4, 8),
} as TokenBatch;
const MASK = Uint8Array.of(1, 1, 0, 1);

let server: Server | null = null;
let teacher: EndpointTeacher | null = null;
let asked: Asked[] = [];
let notices: string[] = [];

afterEach(async () => {
  await teacher?.close();
  teacher = null;
  server?.closeAllConnections();
  server?.close();
  asked = [];
  notices = [];
});

async function open(
  routes: typeof VLLM = VLLM,
  endpoint: Partial<TeacherEndpointRecipe> = {},
  topK: number | null = null,
): Promise<EndpointTeacher> {
  server = createServer((request, response) => {
    void (async () => {
      const route = `${request.method} ${request.url}`;
      const body = request.method === 'POST' ? ((await json(request)) as Asked['body']) : {};
      asked.push({ route, body });
      const [status, answer] = routes[route]?.({ route, body }) ?? [404, { detail: 'Not Found' }];
      response.writeHead(status).end(JSON.stringify(answer));
    })();
  });
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  teacher = await EndpointTeacher.open({
    endpoint: { kind: 'vllm', url, model: 'teacher', maxRetries: 0, ...endpoint },
    tokenizer,
    maxPositions: 16,
    vocabSize: 256,
    topK,
    variables: { KEY: 'secret' },
    onNotice: (message) => notices.push(message),
    signal: new AbortController().signal,
  });
  return teacher;
}

/** The same vLLM, whose k likeliest tokens at position p are 20, 21, … with logprobs −1 − p / 8, −2 − p / 8, …, as long as k is at most 3. */
function vllmWithRanks(firstId = 20): typeof VLLM {
  return {
    ...VLLM,
    'POST /v1/completions': ({ body }) => {
      const { prompt, prompt_logprobs: topK } = body as { prompt: number[]; prompt_logprobs: number };
      if (topK > 3) return [400, { error: { message: `${topK} is greater than max allowed: 3` } }];
      const entries = prompt.map((id, n) => {
        const ranked = Array.from({ length: topK }, (_, i) => [
          firstId + i,
          { logprob: -1 - i - n / 8, rank: i + 1 },
        ]);
        return n === 0 ? null : { [id]: { logprob: -id - n / 8, rank: 90 }, ...Object.fromEntries(ranked) };
      });
      return [200, { choices: [{ prompt_logprobs: entries }] }];
    },
  };
}

const ask = async (opened: Promise<EndpointTeacher>) =>
  (await opened).read({ columns: {} as never, batch: BATCH, mask: MASK });

const read = async (opened: Promise<EndpointTeacher>) => {
  const told = await ask(opened);
  expect(told.top).toBeNull();
  return told.logprobs;
};

const refusal = (message: string | RegExp) => ({
  code: 'TEACHER_REFUSED',
  message: typeof message === 'string' ? (expect.stringContaining(message) as string) : message,
});

describe('EndpointTeacher', () => {
  it('tells the logprob of each token that is asked about, given its own prefix', async () => {
    const logprobs = await read(open());
    // Tokens 8 and 7 at positions 1 and 2, one that is not asked about, and token 4 at position 3.
    expect(logprobs).toEqual(Float32Array.of(-8.125, -7.25, 0, -4.375));
    const prompts = asked
      .filter(({ route }) => route === 'POST /v1/completions')
      .map(({ body }) => body.prompt);
    expect(prompts).toEqual([
      [9, 8, 7],
      [1, 2, 3, 4],
    ]);
    expect(notices).toEqual([]);
  });

  it('tells the likeliest tokens where each token was chosen', async () => {
    const { logprobs, top } = await ask(open(vllmWithRanks(), {}, 2));
    expect(logprobs).toEqual(Float32Array.of(-8.125, -7.25, 0, -4.375));
    expect(top).toEqual({
      topK: 2,
      rows: Int32Array.of(0, 1, -1, 2),
      ids: Int32Array.of(20, 21, 20, 21, 20, 21),
      logprobs: Float32Array.of(-1.125, -2.125, -1.25, -2.25, -1.375, -2.375),
    });
  });

  it.each([
    [
      'does not tell as many likeliest tokens',
      vllmWithRanks(),
      4,
      /distillation\.topK is 4, and the server does not tell so many .*max allowed: 3.*; start vLLM with --max-logprobs 4, or lower topK; retrace serve tells none/,
    ],
    [
      'tells the sampled tokens only',
      VLLM,
      2,
      /distillation\.topK is 2, .*prompt_logprobs\[1\] must have the 2 likeliest tokens, has 0/,
    ],
    ['names tokens that the policy lacks', vllmWithRanks(255), 2, 'token 256 is among its 2 likeliest at'],
    ['is asked for too many', vllmWithRanks(), 257, /^distillation\.topK: got 257, must be at most .*, 256/],
  ] as const)('refuses a server that %s, with topK', async (_, routes, topK, message) => {
    await expect(ask(open(routes, {}, topK))).rejects.toMatchObject(refusal(message));
  });

  it.each([
    ['a base model', 'Qwen/Qwen3-8B', 'base_model', (entries: (number | null)[]) => entries],
    // SkyRL's JAX server leaves the first token out.
    [
      'a saved policy',
      'tinker://a/sampler_weights/b',
      'model_path',
      (entries: (number | null)[]) => entries.slice(1),
    ],
  ])('asks a Tinker server for %s', async (_, model, field, told) => {
    const logprobs = await read(open(tinker(told), { kind: 'tinker', model, maxRetries: undefined }));
    expect(logprobs).toEqual(Float32Array.of(-8.125, -7.25, 0, -4.375));
    const samples = asked.filter(({ route }) => route === 'POST /api/v1/asample').map(({ body }) => body);
    expect(samples.slice(1).map(tokensOf)).toEqual([
      [9, 8, 7],
      [1, 2, 3, 4],
    ]);
    for (const sample of samples) expect(sample).toMatchObject({ [field]: model, prompt_logprobs: true });
    expect(notices).toEqual([expect.stringContaining('does not tell its tokens') as string]);
  });

  it('refuses a Tinker server without the model, or without logprobs of prompts', async () => {
    const endpoint = { kind: 'tinker', model: 'none', maxRetries: undefined } as const;
    const unknown: typeof VLLM = {
      ...tinker((entries) => entries),
      'POST /api/v1/asample': () => [404, { detail: 'no such model' }],
    };
    await expect(open(unknown, endpoint)).rejects.toMatchObject(refusal('no such model'));
    const silent = tinker((entries) => entries.map(() => null));
    await expect(open(silent, endpoint)).rejects.toMatchObject(
      refusal("it has no logprobs of the prompt's tokens for none"),
    );
  });

  it('asks SGLang too, whose model needs no name', async () => {
    const generate = ({ body }: Asked) => {
      const tokens = (body as { readonly input_ids: number[] }).input_ids;
      const told = tokens.map((id, n) => [n === 0 ? null : -id - n / 8, id, null]);
      return [200, { meta_info: { input_token_logprobs: told } }] as const;
    };
    const routes = { 'POST /tokenize': VLLM['POST /tokenize'], 'POST /generate': generate };
    const logprobs = await read(open(routes, { kind: 'sglang', model: undefined }));
    expect(logprobs).toEqual(Float32Array.of(-8.125, -7.25, 0, -4.375));
  });

  it.each([
    [
      'has another tokenizer',
      { 'POST /tokenize': () => [200, { tokens: [1, 2] }] },
      'it has another tokenizer',
    ],
    [
      'names another tokenizer',
      { 'GET /version': () => [200, { version: 'x', tokenizer_hash: 'ab' }] },
      'it has another tokenizer',
    ],
    [
      'reads contexts that are no longer than those of the policy',
      { 'GET /v1/models': () => [200, { data: [{ id: 'teacher', max_model_len: 16 }] }] },
      'it reads contexts of 16 tokens; those of the policy have 16, and a server wants room for one more; give it',
    ],
    [
      'serves another model',
      { 'GET /v1/models': () => [200, { data: [{ id: 'other', max_model_len: 99 }] }] },
      'the server serves no model "teacher"; it serves other',
    ],
    ['wants a key', { 'GET /v1/models': () => [401, { error: 'Unauthorized' }] }, '401'],
    [
      'gives a token no probability',
      { 'POST /v1/completions': () => [200, { choices: [{ prompt_logprobs: [null, null, null] }] }] },
      'it has no logprob of token 8, at position 1 of its context',
    ],
  ] as const)('refuses a server that %s, for good', async (_, change, message) => {
    const routes = { ...VLLM, ...(change as unknown as Partial<typeof VLLM>) } as typeof VLLM;
    await expect(read(open(routes))).rejects.toMatchObject({
      ...refusal(message),
      exitCode: FINAL_FAILURE_EXIT_CODE,
    });
  });

  it('refuses a key that is not in the environment', async () => {
    const message = 'apiKeyVariable is NONE, which is not set in the environment of the trainer';
    await expect(open(VLLM, { apiKeyVariable: 'NONE' })).rejects.toMatchObject(refusal(message));
  });

  it('believes a server that does not tell its tokens, and says so', async () => {
    await read(open({ ...VLLM, 'POST /tokenize': () => [404, {}] }));
    expect(notices).toEqual([expect.stringContaining('does not tell its tokens') as string]);
  });

  it('waits for a server that restarts, and refuses another one in its place', async () => {
    const routes = { ...VLLM };
    const completions = VLLM['POST /v1/completions'];
    let numLeft = 2;
    routes['POST /v1/completions'] = (request) => {
      if (numLeft-- > 0) return [503, { error: 'starting' }];
      routes['POST /tokenize'] = () => [200, { tokens: [1, 2] }];
      return completions(request);
    };
    await expect(read(open(routes))).rejects.toMatchObject(refusal('it has another tokenizer'));
    expect(numLeft).toBeLessThan(0);
    expect(notices).toHaveLength(1);
  });

  it('waits for a server that is down, until the deadline, and may be tried again', async () => {
    const isDown = () => [503, { error: 'starting' }] as const;
    const opened = open({ ...VLLM, 'POST /v1/completions': isDown }, { deadlineMs: 3_000 });
    await expect(read(opened)).rejects.toMatchObject({
      code: 'TEACHER_UNAVAILABLE',
      exitCode: 1,
      message: expect.stringMatching(
        /^distillation\.teacher\.endpoint: no answer of http:.* in time/,
      ) as string,
    });
    expect(notices).toEqual([expect.stringContaining('the update waits for the teacher at') as string]);
  });
});
