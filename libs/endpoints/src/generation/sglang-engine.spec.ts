import { afterEach, describe, expect, it } from 'vitest';
import { startFixtureServer, type FixtureServer } from '../http/fixture-server.fixture.js';
import { ServiceClient } from '../http/service-client.js';
import { SglangWeights } from '../weights/sglang-weights.js';
import { SglangEngine } from './sglang-engine.js';

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
    const engine = new SglangEngine(await serve(() => metaWith({})), OPTIONS);
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
    const engine = new SglangEngine(await serve(() => metaWith({ weight_versions: spans })), OPTIONS);
    expect((await engine.generate(REQUEST)).versions).toEqual(spans);
    await server.close();
    const broken = new SglangEngine(
      await serve(() => metaWith({ weight_versions: spans.slice(1) })),
      OPTIONS,
    );
    await expect(broken.generate(REQUEST)).rejects.toMatchObject({ code: 'MALFORMED_ANSWER' });
  });

  it('replaces weights once, and believes the version that the server says', async () => {
    let version = 'default';
    const service = await serve((path) => {
      if (path === '/model_info') return { weight_version: version };
      version = 'retrace-run-4';
      return { success: true, message: 'ok' };
    });
    const weights = new SglangWeights(service, OPTIONS);
    await weights.load('/weights/4', 'retrace-run-4');
    await weights.load('/weights/4', 'retrace-run-4');
    const updates = server.asked.filter(({ path }) => path === '/update_weights_from_disk');
    expect(updates.map(({ body }) => body)).toEqual([
      {
        model_path: '/weights/4',
        weight_version: 'retrace-run-4',
        abort_all_requests: false,
        flush_cache: true,
      },
    ]);
    await expect(weights.load('/weights/5', 'retrace-run-5')).rejects.toMatchObject({
      message: 'the weights are version retrace-run-4, must be retrace-run-5',
    });
  });

  it('reports weights that the server did not take', async () => {
    const service = await serve((path) =>
      path === '/model_info' ? { weight_version: 'default' } : { success: false, message: 'no such file' },
    );
    await expect(new SglangWeights(service, OPTIONS).load('/nowhere', 'retrace-run-1')).rejects.toMatchObject(
      {
        message: 'the weights were not updated: no such file',
      },
    );
  });
});
