import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { openEnvironment } from '../open-environment.js';
import { ActionSchema } from './action-schema.js';

const SCHEMA = {
  action: {
    properties: { metadata: { type: 'object' }, number: { type: 'integer', minimum: 1, maximum: 3 } },
    required: ['number'],
  },
};

describe('an environment on a server of ours that answers as OpenEnv’s do', () => {
  let url: string;
  let stop: () => Promise<void>;
  let reward: unknown;
  const asked: unknown[] = [];
  beforeEach(async () => {
    const paths: Record<string, unknown> = {
      '/health': { status: 'healthy' },
      '/metadata': {},
      '/schema': SCHEMA,
    };
    const http = createServer((request, response) =>
      response.end(JSON.stringify(paths[request.url ?? ''] ?? null)),
    );
    const sockets = new WebSocketServer({ server: http, path: '/ws' });
    sockets.on('connection', (socket) => {
      if (sockets.clients.size > 1) {
        const data = { message: 'Server at capacity', code: 'CAPACITY_REACHED' };
        socket.send(JSON.stringify({ type: 'error', data }));
        socket.close(1000);
        return;
      }
      socket.on('message', (text: Buffer) => {
        const { type, data } = JSON.parse(text.toString()) as { type: string; data?: object };
        asked.push([type, data]);
        const answer = { observation: { text: 'Guess' }, reward, done: type === 'step' };
        if (type !== 'close') socket.send(JSON.stringify({ type: 'observation', data: answer }));
      });
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    asked.length = 0;
    stop = async () => {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => http.close(resolve));
    };
  });
  afterEach(() => stop());

  const open = (maxEpisodes?: number) =>
    openEnvironment({
      name: 'guess',
      server: { protocol: 'openenv', urls: [url], ...(maxEpisodes && { maxEpisodes }) },
    });

  it('sends bare actions by the schema, keeps a missing reward missing, and takes one session by default', async () => {
    const { spec, close } = await open();
    expect(spec).toMatchObject({ maxInstances: 1, maxSteps: 50 });
    const environment = spec.create();
    reward = null;
    const first = await environment.reset(spec.sampleTask({ split: 'train', index: 0, seed: 1 }));
    expect(first).toEqual({ text: 'Guess', anchor: null, legalActions: ['1', '2', '3'] });
    expect(await environment.step('two')).toMatchObject({ actionValid: false, terminated: false });
    expect(await environment.step('2')).toMatchObject({ reward: null, terminated: true, success: null });
    expect(asked.at(-1)).toEqual(['step', { number: 2 }]);
    reward = 'much';
    const again = environment.reset(spec.sampleTask({ split: 'train', index: 0, seed: 1 }));
    await Promise.resolve(again)
      .then(() => environment.step('1'))
      .catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'PROTOCOL_VIOLATION' });
      });
    await environment.close();
    await close();
  });

  it('a session that is accepted and then told that the server is full is a typed error', async () => {
    const { spec, close } = await open(2);
    const [first, second] = [spec.create(), spec.create()];
    const sampled = spec.sampleTask({ split: 'train', index: 0, seed: 1 });
    await first.reset(sampled);
    await expect(second.reset(sampled)).rejects.toMatchObject({ code: 'SERVER_FULL' });
    await close();
  });
});

it('reads an action from JSON, from the value of the only field, and after a label', () => {
  const schema = new ActionSchema(SCHEMA.action);
  expect(schema.parse('{"number": 2, "metadata": {}}')).toEqual({ number: 2, metadata: {} });
  expect(schema.parse('Thought: low\nAction: 3')).toEqual({ number: 3 });
  expect(schema.parse('three')).toBeNull();
  expect(
    new ActionSchema({ properties: { a: { type: 'string' }, b: { type: 'string' } } }).parse('x'),
  ).toBeNull();
});
