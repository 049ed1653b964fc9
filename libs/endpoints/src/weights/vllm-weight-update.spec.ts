import { afterEach, describe, expect, it } from 'vitest';
import { startFixtureServer, type FixtureServer, type Reply } from '../http/fixture-server.fixture.js';
import { ServiceClient } from '../http/service-client.js';
import { VllmWeightUpdate } from './vllm-weight-update.js';

const OPTIONS = { timeoutMs: 5_000, maxRetries: 3 };
const FOUR = { name: 'retrace-run-4', directory: '/weights/4' };

/** vLLM 0.32's answer without `--weight-transfer-config`. */
const NOT_CONFIGURED = {
  error: {
    message:
      "Call to collective_rpc method failed: Worker failed with error 'Weight transfer not configured. Please set weight_transfer_config to enable weight transfer.', please check the stack trace above for the root cause",
    type: 'InternalServerError',
    param: null,
    code: 500,
  },
};

describe('VllmWeightUpdate', () => {
  let server: FixtureServer;
  afterEach(() => server.close());

  /** vLLM's routes with the state that they have there; `answers` replaces some. */
  async function open(answers: Readonly<Record<string, Reply>> = {}) {
    let version = 'default';
    let paused = false;
    server = await startFixtureServer(({ path, body }) => {
      if (path in answers) return answers[path];
      if (path.startsWith('/pause')) paused = true;
      if (path === '/resume') paused = false;
      if (path === '/finish_weight_update') version = (body as { weight_version: string }).weight_version;
      if (path === '/v1/models') return { body: { data: [{ id: 'tiny' }] } };
      return { body: { is_paused: paused, weight_version: version } };
    });
    const service = new ServiceClient({ url: server.url, concurrency: 2, firstRetryMs: 1 });
    return new VllmWeightUpdate(service, OPTIONS);
  }
  const posted = () => server.asked.filter(({ method }) => method === 'POST').map(({ path }) => path);

  it('updates all weights once, between a pause and a resume that the server confirms', async () => {
    const update = await open();
    expect(await update.deliver(FOUR)).toEqual({ version: 'retrace-run-4', model: 'tiny' });
    await update.deliver(FOUR);
    expect(server.asked.map(({ path }) => path)).toEqual([
      ...['/v1/models', '/weight_info', '/pause?mode=wait', '/is_paused', '/start_weight_update'],
      ...[
        '/update_weights',
        '/finish_weight_update',
        '/resume',
        '/is_paused',
        '/weight_info',
        '/weight_info',
      ],
    ]);
    const body = (path: string) => server.asked.find((asked) => asked.path === path)?.body;
    expect(body('/update_weights')).toEqual({ update_info: { directory: '/weights/4' } });
    expect(body('/finish_weight_update')).toEqual({ weight_version: 'retrace-run-4' });
  });

  it('resumes a server that takes no weights, and says how it must be started', async () => {
    const update = await open({ '/start_weight_update': { status: 500, body: NOT_CONFIGURED } });
    await expect(update.deliver(FOUR)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining(`--weight-transfer-config '{"backend": "retrace_files"}'`) as string,
    });
    // Made once, although vLLM calls it an error of the server.
    expect(posted()).toEqual(['/pause?mode=wait', '/start_weight_update', '/resume']);
  });

  it('says which variable opens the routes of updates', async () => {
    const update = await open({ '/weight_info': { status: 404, body: { detail: 'Not Found' } } });
    await expect(update.deliver(FOUR)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('VLLM_SERVER_DEV_MODE=1') as string,
    });
    expect(posted()).toEqual([]);
  });

  it('does not replace weights in a server that did not pause', async () => {
    const update = await open({ '/pause?mode=wait': { body: { status: 'paused' } } });
    await expect(update.deliver(FOUR)).rejects.toMatchObject({
      message: 'the server says is_paused false, must be true',
    });
    expect(posted()).toEqual(['/pause?mode=wait', '/resume']);
  });

  it('refuses a server that says another version after the update', async () => {
    const update = await open({ '/finish_weight_update': { body: { message: 'Weight update finished' } } });
    await expect(update.deliver(FOUR)).rejects.toMatchObject({ code: 'WEIGHTS_NOT_TAKEN' });
  });
});
