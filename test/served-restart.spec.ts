import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { createTokenizer } from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeByteModel } from './support/byte-model.mjs';
import { ServedTraining } from './support/served-training.js';

const NUM_TOKENS = createTokenizer('byte', []).vocabSize;
const [CAPITAL, SMALL] = createTokenizer('byte', []).encode('Aa');

/** The routes of vLLM 0.32 that adapters need, without its model: each token is as likely as the others, and adapters that it was not given are 404. It forgets them when it restarts. */
class AdapterServer {
  private server: Server | null = null;
  private adapters = new Set<string>();
  private port = 0;
  readonly loaded: string[] = [];
  numTurns = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get names(): readonly string[] {
    return [...this.adapters];
  }

  start(): Promise<void> {
    return this.listen((request, response) => void this.answer(request, response));
  }

  /** Another program at the same port. */
  startPage(): Promise<void> {
    return this.listen((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>'),
    );
  }

  /** Breaks all connections, as a kill does. */
  async kill(): Promise<void> {
    this.adapters.clear();
    const { server } = this;
    this.server = null;
    await new Promise((resolve) => {
      server?.close(resolve);
      server?.closeAllConnections();
    });
  }

  private async listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
    this.server = createServer(handle);
    await new Promise<void>((resolve) => this.server?.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (request.method === 'POST' ? await json(request) : {}) as Record<string, unknown>;
    const reply = (value: unknown, status = 200) => response.writeHead(status).end(JSON.stringify(value));
    const name = String(body.lora_name);
    switch (request.url) {
      case '/version':
        return void reply({ version: '0.32.0' });
      case '/v1/models':
        return void reply({ data: ['tiny', ...this.adapters].map((id) => ({ id })) });
      case '/v1/load_lora_adapter':
        if (this.adapters.has(name)) return void reply({ error: { message: 'already loaded' } }, 400);
        this.adapters.add(name);
        this.loaded.push(name);
        return void reply('loaded');
      case '/v1/unload_lora_adapter':
        return void reply('unloaded', this.adapters.delete(name) ? 200 : 404);
      default:
        if (!this.adapters.has(String(body.model)))
          return void reply({ error: { message: 'The model does not exist.' } }, 404);
        this.numTurns++;
        // A turn takes a while, so that some are under way at any time.
        await sleep(20);
        return void reply({ choices: [this.choiceOf(body)] });
    }
  }

  /** As many tokens as were asked for, capitals in every second turn, so that rewards differ; the likeliest tokens have logprobs from after the temperature. */
  private choiceOf({ max_tokens: n, logprobs, temperature }: Record<string, unknown>): object {
    const tokens = Array.from({ length: Number(n) }, () => (this.numTurns % 2 === 0 ? CAPITAL : SMALL));
    const scores = [0, 1, 2].map((score) => score / Number(temperature));
    const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    const top = Object.fromEntries(scores.map((score, id) => [`token_id:${id}`, score - total]));
    return {
      token_ids: tokens,
      finish_reason: 'length',
      stop_reason: null,
      logprobs: {
        token_logprobs: tokens.map(() => -Math.log(NUM_TOKENS)),
        ...(Number(logprobs) > 0 && { top_logprobs: [top] }),
      },
    };
  }
}

describe('a run whose turns a server with adapters samples', () => {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-served-restart-'));
  const training = new ServedTraining(directory);
  const server = new AdapterServer();

  beforeAll(async () => {
    await openBackend({});
    await writeByteModel(directory, { lmHeadInitializerStd: 1e-30 });
    await server.start();
  });
  afterAll(async () => {
    await server.kill();
    await training.removeAll();
    rmSync(directory, { recursive: true });
  });

  it('loses no episode while the server is killed, another program takes its port, and it starts without its adapters', async () => {
    const { url } = server;
    const trained = training.train({
      endpoint: { kind: 'vllm', url, maxLogprobDifference: null },
      ...{ adapters: true, maxStaleness: 1, concurrentEpisodes: 16, seed: 1, numUpdates: 5 },
    });
    let isOver = false;
    void trained.finally(() => (isOver = true)).catch(() => undefined);
    while (!isOver && server.loaded.length < 2) await sleep(1);
    const { numTurns } = server;
    while (!isOver && server.numTurns < numTurns + 8) await sleep(1);
    await server.kill();
    await sleep(500);
    await server.startPage();
    await sleep(500);
    await server.kill();
    await server.start();
    const data = await trained;
    const [episodes] = await training.sql<{ failures: string[] }>(
      data,
      "SELECT groupUniqArrayIf(end_detail, end_reason != 'terminated') AS failures FROM episodes",
    );
    expect(episodes.failures).toEqual([]);
    const warnings = await training.sql<{ message: string }>(data, 'SELECT message FROM warnings');
    const said = warnings.map(({ message }) => message).join('\n');
    expect(said).toContain(`turns wait for the server at ${url}`);
    expect(said).toMatch(/had lost its weights, and has those of policy version \d+ again/);
    expect(server.names.filter((name) => name.startsWith('retrace-'))).toEqual([]);
  }, 600_000);
});
