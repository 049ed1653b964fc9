import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { afterEach, describe, expect, it } from 'vitest';
import { downloadAdapter } from './adapter-archive.js';
import { makeDatum } from './datum.js';
import { sampleTokens } from './sample-tokens.js';
import { TinkerClient } from './tinker-client.js';

interface Asked {
  readonly path: string;
  readonly key: string | undefined;
}

interface Reply {
  readonly status?: number;
  readonly body?: object | Buffer;
  readonly location?: string;
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server that answers as it is told, and what it was asked. */
async function serve(reply: (path: string, nth: number) => Reply) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    request.resume();
    request.on('end', () => {
      asked.push({ path, key: request.headers['x-api-key'] as string | undefined });
      const { status = 200, body = {}, location } = reply(path.replace('/api/v1/', ''), asked.length);
      response.writeHead(status, location === undefined ? {} : { location });
      response.end(body instanceof Buffer ? body : JSON.stringify(body));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const client = (url: string) => new TinkerClient({ url, apiKey: 'tml-secret', patienceMs: 2_000 });

/** The results of a call, one after the other. */
async function resultOf(...replies: readonly Reply[]) {
  let next = 0;
  const { url, asked } = await serve((path) =>
    path === 'retrieve_future'
      ? (replies[next++] ?? replies[replies.length - 1])
      : { body: { request_id: '7' } },
  );
  const made = client(url);
  try {
    return { result: await made.run('forward', {}), asked };
  } finally {
    await made.close();
  }
}

describe('a later result', () => {
  it('is asked for until it is there, with the key in each request', async () => {
    const { result, asked } = await resultOf(
      { body: { type: 'try_again', queue_state: 'active' } },
      { status: 408, body: { detail: 'Timeout waiting for result' } },
      { status: 503 },
      { body: { loss_fn_outputs: [] } },
    );
    expect(result).toEqual({ loss_fn_outputs: [] });
    expect(asked.map(({ key }) => key)).toEqual(new Array(5).fill('tml-secret'));
  });

  it.each([
    [{ status: 400, body: { detail: 'out of memory' } }, 'FAILED', 'out of memory'],
    [{ status: 400, body: { detail: 'Model m not loaded' } }, 'MODEL_LOST', 'not loaded'],
    [{ status: 404, body: { detail: 'Future not found' } }, 'MODEL_LOST', 'Future not found'],
    [{ status: 404, body: { detail: 'Checkpoint not found: m/u2' } }, 'CHECKPOINT_UNKNOWN', 'm/u2'],
    [
      { status: 400, body: { detail: 'Training checkpoint not found in m/u2' } },
      'CHECKPOINT_UNKNOWN',
      'm/u2',
    ],
    [{ body: { error: 'no such loss', category: 'user' } }, 'REFUSED', 'no such loss'],
    [{ body: { error: 'a rank died', category: 'server' } }, 'FAILED', 'a rank died'],
  ] as const)('that is %j is %s', async (reply, code, message) => {
    const reason = { code, message: expect.stringContaining(message) as string };
    await expect(resultOf(reply)).rejects.toMatchObject(reason);
  });

  it('is no longer waited for once nobody reaches the server', async () => {
    const { url } = await serve(() => ({ body: { request_id: '7' } }));
    const made = client(url);
    const taken = await made.begin('forward', {});
    const [server] = servers.splice(0);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(made.result(taken, 'forward')).rejects.toMatchObject({ code: 'NO_ANSWER' });
    await made.close();
  });
});

it('an archive is fetched from where the server points to, without the key, and only the adapter is unpacked', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-archive-'));
  try {
    const [packed, unpacked] = ['packed', 'unpacked'].map((name) => mkdtempSync(join(directory, name)));
    writeFileSync(join(packed, 'adapter_config.json'), JSON.stringify({ r: 8, lora_alpha: 32 }));
    writeFileSync(join(packed, 'adapter_model.safetensors'), 'weights');
    writeFileSync(join(packed, 'other.sh'), 'other');
    const pieces: Buffer[] = [];
    for await (const piece of create({ cwd: packed, gzip: true }, ['.'])) pieces.push(Buffer.from(piece));
    const storage = await serve(() => ({ body: Buffer.concat(pieces) }));
    const server = await serve(() => ({ status: 302, location: `${storage.url}/signed?x=1` }));
    const made = client(server.url);
    const adapter = await downloadAdapter(made, 'tinker://m/sampler_weights/v1', unpacked);
    await made.close();
    expect(adapter).toMatchObject({ rank: 8, alpha: 32 });
    expect(readFileSync(adapter.weights, 'utf8')).toBe('weights');
    expect(() => readFileSync(join(unpacked, 'other.sh'))).toThrow();
    expect(server.asked).toEqual([
      { path: '/api/v1/training_runs/m/checkpoints/v1/archive', key: 'tml-secret' },
    ]);
    expect(storage.asked).toEqual([{ path: '/signed?x=1', key: undefined }]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it.each([
  ['with a null for the first token', [null, -1, -2]],
  ['without the first token', [-1, -2]],
])('logprobs of a context %s have NaN there', async (_, prompt_logprobs) => {
  const { url } = await serve((path) => ({
    body:
      path === 'retrieve_future'
        ? { sequences: [{ tokens: [5], logprobs: [1e-9], stop_reason: 'stop' }], prompt_logprobs }
        : { request_id: '1' },
  }));
  const made = client(url);
  const request = { path: 'tinker://m/v', tokenIds: [1, 2, 3], maxTokens: 1, temperature: 1, topK: -1 };
  const sampled = await sampleTokens(made, { ...request, topP: 1, seed: 0, stop: [], promptLogprobs: true });
  await made.close();
  expect(Array.from(sampled.promptLogprobs ?? [])).toEqual([NaN, -1, -2]);
  expect(Array.from(sampled.logprobs)).toEqual([0]);
});

it('a datum has one number for each target, or is refused', () => {
  const tokenIds = Int32Array.of(4, 5, 6);
  const { model_input, loss_fn_inputs } = makeDatum({ tokenIds, mask: Uint8Array.of(0, 1) });
  expect(model_input.chunks[0].tokens).toEqual([4, 5]);
  expect(loss_fn_inputs.target_tokens).toEqual({ data: [5, 6], dtype: 'int64', shape: [2] });
  expect(() => makeDatum({ tokenIds, mask: Uint8Array.of(0, 1, 1) })).toThrow('mask has 3 numbers');
  expect(() => makeDatum({ tokenIds: Int32Array.of(4), mask: new Uint8Array(0) })).toThrow('two tokens');
});
