import { afterEach, describe, expect, it } from 'vitest';
import { startFixtureServer, type FixtureServer } from '../http/fixture-server.fixture.js';
import { ServiceClient } from '../http/service-client.js';
import { openTokenEngine } from '../servers/token-servers.js';

const OPTIONS = { timeoutMs: 5_000, maxRetries: 0 };
const REQUEST = {
  tokenIds: Int32Array.of(1, 17),
  model: 'm',
  temperature: 0.7,
  topK: 5,
  topP: 0.9,
  greedy: false,
  maxNewTokens: 8,
  stopTokenIds: [2],
  stopStrings: ['</a>'],
  seed: 9,
};

/** SGLang does not install here: the answers have the form that its source (0.5.23) gives them. */
describe('SGLang, by its source', () => {
  let server: FixtureServer;
  afterEach(() => server.close());

  const serve = async (reply: (path: string) => unknown) => {
    server = await startFixtureServer(({ path }) => ({ body: reply(path) }));
    return new ServiceClient({ url: server.url, concurrency: 4, firstRetryMs: 1 });
  };
  const metaWith = (change: object) => ({
    text: 'x',
    meta_info: {
      finish_reason: { type: 'stop', matched: 2 },
      weight_version: 'retrace-run-3',
      output_token_logprobs: [
        [-0.5, 11, null],
        [-0.25, 2, null],
      ],
      ...change,
    },
  });

  it('reads tokens, logprobs and the one version', async () => {
    const engine = openTokenEngine('sglang', await serve(() => metaWith({})), OPTIONS);
    const turn = await engine.generate(REQUEST);
    expect([...turn.tokenIds]).toEqual([11, 2]);
    expect([...turn.logprobs]).toEqual([-0.5, -0.25]);
    expect(turn.stopReason).toBe('stopToken');
    expect(turn.versions).toEqual([{ version: 'retrace-run-3', start: 0, end: 2 }]);
    expect(server.asked[0].body).toMatchObject({
      input_ids: [1, 17],
      return_logprob: true,
      sampling_params: { temperature: 0.7, top_k: 5, top_p: 0.9, stop: ['</a>'], stop_token_ids: [2] },
    });
  });

  it('reads the version of each token, and refuses spans that do not cover them', async () => {
    const spans = [
      { version: 'retrace-run-3', start: 0, end: 1 },
      { version: 'retrace-run-4', start: 1, end: 2 },
    ];
    const engine = openTokenEngine(
      'sglang',
      await serve(() => metaWith({ weight_versions: spans })),
      OPTIONS,
    );
    expect((await engine.generate(REQUEST)).versions).toEqual(spans);
    await server.close();
    const broken = openTokenEngine(
      'sglang',
      await serve(() => metaWith({ weight_versions: spans.slice(1) })),
      OPTIONS,
    );
    await expect(broken.generate(REQUEST)).rejects.toMatchObject({ code: 'MALFORMED_ANSWER' });
  });

  it('refuses fewer tokens than the server counted', async () => {
    const engine = openTokenEngine('sglang', await serve(() => metaWith({ completion_tokens: 3 })), OPTIONS);
    await expect(engine.generate(REQUEST)).rejects.toMatchObject({
      code: 'MALFORMED_ANSWER',
      message: expect.stringContaining(
        'meta_info.completion_tokens says 3 tokens, the answer has 2',
      ) as string,
    });
  });

  it('scores the tokens of a prompt', async () => {
    const scored = metaWith({
      input_token_logprobs: [
        [null, 1, null],
        [-2.5, 17, null],
      ],
    });
    const engine = openTokenEngine('sglang', await serve(() => scored), OPTIONS);
    const { logprobs, likeliest } = await engine.score({ tokenIds: [1, 17], model: '' });
    expect([...logprobs]).toEqual([Number.NaN, -2.5]);
    expect(likeliest).toBeNull();
    expect(server.asked[0].body).toMatchObject({ input_ids: [1, 17], logprob_start_len: 0 });
  });

  it('tells the likeliest tokens at each place of a prompt, and refuses fewer', async () => {
    const scored = metaWith({
      input_token_logprobs: [
        [null, 1, null],
        [-2.5, 17, null],
      ],
      input_top_logprobs: [
        null,
        [
          [-0.25, 4, null],
          [-2.5, 17, null],
        ],
      ],
    });
    const engine = openTokenEngine('sglang', await serve(() => scored), OPTIONS);
    const { likeliest } = await engine.score({ tokenIds: [1, 17], model: '', topK: 2 });
    expect([...(likeliest?.ids ?? [])]).toEqual([0, 0, 4, 17]);
    expect([...(likeliest?.logprobs ?? [])]).toEqual([Number.NaN, Number.NaN, -0.25, -2.5]);
    expect(server.asked[0].body).toMatchObject({ logprob_start_len: 0, top_logprobs_num: 2 });
    await expect(engine.score({ tokenIds: [1, 17], model: '', topK: 3 })).rejects.toMatchObject({
      code: 'MALFORMED_ANSWER',
      message: 'meta_info.input_top_logprobs[1] must have the 3 likeliest tokens, has 2',
    });
  });
});
