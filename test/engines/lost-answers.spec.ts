import { rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpdateEngine } from '@retrace/trainer';
import { newDirectory, obstacle, smallRecipe, Worker } from './torch.js';

/* Connections that break between trainer and worker: no call is applied twice, and none is lost. */

/** When a connection breaks: before the worker gets a call, or when its answer is on the way. */
type Break = 'call' | 'answer';

/** Calls without a number, which may be made again. */
const REPEATABLE = ['/v1/save', '/v1/sync'];

/** A server in front of a worker that breaks the connection of each first try of a numbered call, and of the first of those that may be made again. */
class BreakingProxy {
  readonly broken: string[] = [];
  private readonly tried = new Set<string>();

  private constructor(private readonly server: Server) {}

  static async start(target: string, breaks: Break): Promise<BreakingProxy> {
    const server = createServer();
    const proxy = new BreakingProxy(server);
    server.on('request', (call, answer) => {
      const { method, url = '', headers } = call;
      const number = headers['retrace-call'];
      const isTried = number !== undefined || REPEATABLE.includes(url);
      const isFirst = isTried && !proxy.tried.has(`${number} ${url}`);
      proxy.tried.add(`${number?.toString()} ${url}`);
      if (isFirst) proxy.broken.push(url.split('?')[0]);
      if (isFirst && breaks === 'call') {
        call.socket.destroy();
        return;
      }
      const forwarded = request(new URL(url, target), { method, headers }, (found) => {
        if (isFirst) {
          found.resume();
          found.once('end', () => call.socket.destroy());
          return;
        }
        answer.writeHead(found.statusCode ?? 500, found.headers);
        found.pipe(answer);
      });
      call.pipe(forwarded);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

describe.skipIf(obstacle !== null)(obstacle ?? 'a torch worker behind a bad connection', () => {
  const directory = newDirectory();
  let worker: Worker;
  beforeAll(async () => {
    await openBackend();
    worker = await Worker.start();
  });
  afterAll(async () => {
    await worker.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const checkpoints = new CheckpointFiles(directory);
  const recipe = smallRecipe('bandit-ppo');

  it.each(['call', 'answer'] as const)(
    'applies every call once when the connection breaks at its first %s',
    async (breaks) => {
      const plain = await worker.open(recipe, checkpoints);
      const expected = await train(plain);
      await plain.close();
      const proxy = await BreakingProxy.start(worker.url, breaks);
      const engine = await worker.open(recipe, checkpoints, undefined, { ...worker.section, url: proxy.url });
      expect(await train(engine)).toEqual(expected);
      const called = new Set(proxy.broken);
      for (const path of [
        'open',
        'load',
        'forward',
        'backward',
        'step',
        'discard',
        'move-reference',
        'save',
        'sync',
      ])
        expect(called).toContain(`/v1/${path}`);
      await engine.close();
      proxy.close();
    },
  );

  it('tells that it was lost when another trainer has opened the worker, and takes no step of both', async () => {
    const first = await worker.open(recipe, checkpoints);
    const batch = await batchOf(first);
    await first.accumulate(batch, LOSS);
    const second = await worker.open(recipe, checkpoints);
    const before = await second.saveWeights();
    await expect(first.step(STEP)).rejects.toMatchObject({ code: 'ENGINE_LOST' });
    await expect(first.save()).rejects.toMatchObject({ code: 'ENGINE_LOST' });
    expect(await second.saveWeights()).toEqual(before);
    expect(await second.step(STEP)).toMatchObject({ gradientNorm: 0 });
    await first.close();
    await second.close();
  });

  it('refuses a wrong token with a sentence that names its field', async () => {
    const tokenFile = join(directory, 'other-token');
    writeFileSync(tokenFile, 'another');
    const message = expect.stringContaining('engine.tokenFile') as string;
    await expect(
      worker.open(recipe, checkpoints, undefined, { ...worker.section, tokenFile }),
    ).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE', message });
  });
});

const STEP = { learningRate: 0.05, maxGradientNorm: 1 };
const LOSS = {
  policyLoss: 'ppo',
  policyLossOptions: {},
  valueCoefficient: 0.5,
  valueClip: null,
  entropyCoefficient: 0.01,
  klCoefficient: 0,
  klEstimator: 'k3',
  temperature: 1,
} as const;

/** Each kind of call, and the resulting state. */
async function train(engine: UpdateEngine) {
  for (let step = 0; step < 2; step++) {
    const batch = await batchOf(engine);
    await engine.accumulate(batch, LOSS);
    await engine.discard();
    await engine.accumulate(batch, LOSS);
    await engine.accumulate(batch, LOSS);
    await engine.step(STEP);
    await engine.moveReference(0.5);
  }
  const state = await engine.save();
  await engine.load(state);
  return engine.save();
}

async function batchOf(engine: UpdateEngine) {
  const batch = {
    tokenIds: Int32Array.from({ length: 12 }, (_, n) => (5 * n) % 11),
    sequenceOffsets: Int32Array.of(0, 7, 12),
  };
  const mask = Uint8Array.from({ length: 12 }, (_, n) => Number(n !== 0 && n !== 7));
  const { logprobs } = await engine.evaluate(batch, { temperature: 1, mask });
  const column = (of: (n: number) => number) => Float32Array.from({ length: 12 }, (_, n) => of(n));
  return {
    ...batch,
    lossWeights: column((n) => mask[n] / 10),
    advantages: column((n) => (n % 3) - 1),
    proximalLogprobs: logprobs,
    returns: column(Math.sin),
  };
}
