import { afterEach, describe, expect, it } from 'vitest';
import { startFixtureServer, type FixtureServer, type Reply } from '../http/fixture-server.fixture.js';
import { ServiceClient } from '../http/service-client.js';
import { openTokenEngine } from '../servers/token-servers.js';

/** An answer of vLLM 0.32.0 to a tiny Qwen2, with the fields that are read, and `text`, which does not tell the tokens. */
const ANSWER = {
  object: 'text_completion',
  model: 'tiny',
  choices: [
    {
      index: 0,
      text: '',
      logprobs: {
        text_offset: [0, 0, 0],
        token_logprobs: [-3.5808651447296143, -1.9846994876861572, -4.942518711090088],
        tokens: ['', '', ''],
        top_logprobs: [{ '': -3.5808651447296143 }, { '': -1.9846994876861572 }, { '': -4.942518711090088 }],
      },
      finish_reason: 'length',
      stop_reason: null as number | string | null,
      token_ids: [382, 478, 463],
      prompt_token_ids: [1, 17, 200],
    },
  ],
};

const REQUEST = {
  tokenIds: Int32Array.of(1, 17, 200),
  model: 'retrace-run-2',
  temperature: 0.5,
  topK: 0,
  topP: 1,
  greedy: false,
  maxNewTokens: 3,
  stopTokenIds: [2],
  stopStrings: [],
  seed: 9,
};

describe('The engine of vLLM', () => {
  let server: FixtureServer;
  afterEach(() => server.close());

  async function engineOf(reply: Reply) {
    server = await startFixtureServer(() => reply);
    const service = new ServiceClient({ url: server.url, concurrency: 4, firstRetryMs: 1 });
    return openTokenEngine('vllm', service, { timeoutMs: 5_000, maxRetries: 0 });
  }
  const answerWith = (change: object, logprobs: object = {}) => {
    const [choice] = ANSWER.choices;
    return {
      ...ANSWER,
      choices: [{ ...choice, logprobs: { ...choice.logprobs, ...logprobs }, ...change }],
    };
  };

  it('scores the tokens of a prompt', async () => {
    const prompt_logprobs = [
      null,
      { '17': { logprob: -7.3, rank: 382, decoded_token: '/' } },
      { '200': { logprob: -6.1, rank: 134, decoded_token: '(' }, '5': { logprob: -1, rank: 1 } },
    ];
    const engine = await engineOf({ body: answerWith({ prompt_logprobs }) });
    const { logprobs, likeliest } = await engine.score({ tokenIds: [1, 17, 200], model: 'm' });
    expect([...logprobs]).toEqual([Number.NaN, Math.fround(-7.3), Math.fround(-6.1)]);
    expect(likeliest).toBeNull();
    expect(server.asked[0].body).toMatchObject({ prompt: [1, 17, 200], prompt_logprobs: 0, temperature: 1 });
  });

  /** The prompt's own token is the first entry: of rank 382, then of rank 2. */
  const RANKED = [
    null,
    {
      '17': { logprob: -7.25, rank: 382, decoded_token: '/' },
      '9': { logprob: -0.5, rank: 1, decoded_token: 'a' },
      '300': { logprob: -1.5, rank: 2, decoded_token: 'b' },
    },
    {
      '200': { logprob: -2, rank: 2, decoded_token: '(' },
      '5': { logprob: -1, rank: 1, decoded_token: 'c' },
    },
  ];

  it('tells the likeliest tokens at each place of a prompt, by their ranks', async () => {
    const engine = await engineOf({ body: answerWith({ prompt_logprobs: RANKED }) });
    const { logprobs, likeliest } = await engine.score({ tokenIds: [1, 17, 200], model: 'm', topK: 2 });
    expect([...logprobs]).toEqual([Number.NaN, -7.25, -2]);
    expect([...(likeliest?.ids ?? [])]).toEqual([0, 0, 9, 300, 5, 200]);
    expect([...(likeliest?.logprobs ?? [])]).toEqual([Number.NaN, Number.NaN, -0.5, -1.5, -1, -2]);
    expect(server.asked[0].body).toMatchObject({ prompt_logprobs: 2, temperature: 1 });
  });

  it.each([
    ['fewer', {}, '[2] must have the 3 likeliest tokens, has 2'],
    ['a token that is no id', { x: { logprob: -3, rank: 3 } }, '[2] must be token ids'],
    ['no logprob of one', { '7': { logprob: -9999, rank: 3 } }, '[2] must have a logprob of each token'],
  ])('refuses likeliest tokens with %s', async (_, change, message) => {
    const [first, second, third] = RANKED;
    const more = { '8': { logprob: -4, rank: 3 } };
    const prompt_logprobs = [first, { ...second, ...more }, { ...third, ...change }];
    const engine = await engineOf({ body: answerWith({ prompt_logprobs }) });
    await expect(engine.score({ tokenIds: [1, 17, 200], model: 'm', topK: 3 })).rejects.toMatchObject({
      code: 'MALFORMED_ANSWER',
      message: expect.stringContaining(`choices[0].prompt_logprobs${message}`) as string,
    });
  });

  it('asks for tokens from tokens, and leaves nothing to defaults of the model', async () => {
    const engine = await engineOf({ body: ANSWER });
    const { tokenIds, logprobs, versions, stopReason } = await engine.generate(REQUEST);
    expect([...tokenIds]).toEqual([382, 478, 463]);
    expect([...logprobs]).toEqual(
      [-3.5808651447296143, -1.9846994876861572, -4.942518711090088].map(Math.fround),
    );
    expect({ versions, stopReason }).toEqual({ versions: null, stopReason: 'length' });
    expect(server.asked[0]).toEqual({
      method: 'POST',
      path: '/v1/completions',
      body: {
        model: 'retrace-run-2',
        prompt: [1, 17, 200],
        max_tokens: 3,
        temperature: 0.5,
        top_k: -1,
        top_p: 1,
        min_p: 0,
        repetition_penalty: 1,
        presence_penalty: 0,
        frequency_penalty: 0,
        logprobs: 0,
        ignore_eos: true,
        stop_token_ids: [2],
        return_token_ids: true,
      },
    });
  });

  it.each([
    ['stopToken', { finish_reason: 'stop', stop_reason: 463 }],
    ['stopString', { finish_reason: 'stop', stop_reason: '</action>' }],
    ['length', { finish_reason: 'length', stop_reason: null }],
  ])('tells that a turn ended by %s', async (stopReason, change) => {
    const engine = await engineOf({ body: answerWith(change) });
    expect(await engine.generate(REQUEST)).toMatchObject({ stopReason });
  });

  it('reads a logprob that is missing as NaN, and one that rounding put above 0 as 0', async () => {
    const engine = await engineOf({ body: answerWith({}, { token_logprobs: [-9999, null, 1e-7] }) });
    expect([...(await engine.generate(REQUEST)).logprobs]).toEqual([NaN, NaN, 0]);
  });

  it.each([
    ['no choice', { choices: [] }, 'the answer has no choices[0]'],
    ['no tokens', answerWith({ token_ids: [] }), 'choices[0].token_ids must be token ids, at least one'],
    [
      'a token that is no id',
      answerWith({ token_ids: [1, -2, 3] }),
      'choices[0].token_ids must be token ids',
    ],
    [
      'too few logprobs',
      answerWith({}, { token_logprobs: [-1] }),
      'must have one for each of 3 tokens, has 1 values',
    ],
    [
      'a logprob that is a text',
      answerWith({}, { token_logprobs: [-1, '-2', -3] }),
      'must be numbers, has "-2"',
    ],
    [
      'fewer tokens than its usage says',
      { ...ANSWER, usage: { completion_tokens: 4 } },
      'usage.completion_tokens says 4 tokens, the answer has 3',
    ],
    ['garbage', '<html>', 'the answer is not JSON: <html>'],
  ])('refuses an answer with %s', async (_, body, message) => {
    const engine = await engineOf({ body });
    await expect(engine.generate(REQUEST)).rejects.toMatchObject({
      code: 'MALFORMED_ANSWER',
      message: expect.stringContaining(message) as string,
    });
  });

  it('asks again for an answer that has no tokens', async () => {
    server = await startFixtureServer((_, n) => ({ body: n === 0 ? answerWith({ token_ids: [] }) : ANSWER }));
    const service = new ServiceClient({ url: server.url, concurrency: 4, firstRetryMs: 1 });
    const { tokenIds } = await openTokenEngine('vllm', service, { timeoutMs: 5_000, maxRetries: 1 }).generate(
      REQUEST,
    );
    expect([...tokenIds]).toEqual([382, 478, 463]);
  });
});
