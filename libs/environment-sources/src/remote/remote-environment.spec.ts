import { setTimeout as sleep } from 'node:timers/promises';
import type { StepResult } from '@retrace/environments';
import { afterEach, describe, expect, it } from 'vitest';
import { openEnvironment, type OpenEnvironment } from '../open-environment.js';

/** Answers as AgentGym's babyai does, with its process id as the observation; from the action `hang` on it answers no verb. */
const SERVER = `
let hangs = false;
require('node:http').createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const verb = request.url.split('/').at(-1);
    const { action } = JSON.parse(text || '{}');
    hangs ||= action === 'hang';
    if (hangs && request.method === 'POST') return;
    const answer = { observation: String(process.pid), reward: 0, score: 0, done: action === 'finish' };
    response.end(JSON.stringify(verb === 'create' ? { id: 1 } : answer));
  });
}).listen(Number(process.argv[1]), '127.0.0.1');`;

describe('an environment on a server that Retrace started', () => {
  let open: OpenEnvironment;
  afterEach(() => open.close());

  const start = async (numServers: number, limits = {}) => {
    const command = [process.execPath, '-e', SERVER, '{port}'];
    const server = {
      ...({ protocol: 'agentgym', family: 'babyai', command, numServers, maxEpisodes: 1 } as const),
      ...limits,
    };
    open = await openEnvironment({ name: 'babyai', server });
  };
  const reset = async () => {
    const environment = open.spec.create();
    const first = await environment.reset(open.spec.sampleTask({ split: 'train', index: 0, seed: 1 }));
    return { environment, pid: Number(first.text) };
  };

  it('plays the next episode on a new server after its server died in an episode', async () => {
    await start(1);
    const { environment, pid } = await reset();
    process.kill(pid, 'SIGKILL');
    await expect(environment.step('up')).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' });
    await environment.close();
    const next = await reset();
    expect(next.pid).not.toBe(pid);
    await next.environment.close();
  });

  it('plays the next episode on a new server after its server died between episodes', async () => {
    await start(1);
    const { environment, pid } = await reset();
    await environment.step('finish');
    process.kill(pid, 'SIGKILL');
    const again = environment.reset(open.spec.sampleTask({ split: 'train', index: 1, seed: 1 }));
    await expect(again).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' });
    await environment.close();
    const next = await reset();
    expect(next.pid).not.toBe(pid);
    await next.environment.close();
  });

  it('gives back a place that it gets after it was closed', async () => {
    await start(1);
    const first = await reset();
    const second = open.spec.create();
    const waiting = second.reset(open.spec.sampleTask({ split: 'train', index: 1, seed: 1 }));
    const refused = expect(waiting).rejects.toMatchObject({ code: 'EPISODE_OVER' });
    await second.close();
    await first.environment.step('finish');
    await first.environment.close();
    await refused;
    const third = await reset();
    expect(third.pid).toBe(first.pid);
    await third.environment.close();
  });

  it('is ready once there is a place, and its reset takes it', async () => {
    await start(1);
    const first = await reset();
    const second = open.spec.create();
    let isReady = false;
    const ready = Promise.resolve(second.ready?.()).then(() => (isReady = true));
    await sleep(50);
    expect(isReady).toBe(false);
    await first.environment.step('finish');
    await first.environment.close();
    await ready;
    const task = open.spec.sampleTask({ split: 'train', index: 1, seed: 1 });
    expect(await second.reset(task)).toMatchObject({ text: String(first.pid) });
    await second.close();
  });

  it('gives its place on an old server back between two episodes', async () => {
    await start(1, { maxEpisodes: 2, recycleAfterEpisodes: 2 });
    const [idle, other] = [await reset(), await reset()];
    await idle.environment.step('finish');
    await other.environment.step('finish');
    const task = open.spec.sampleTask({ split: 'train', index: 1, seed: 1 });
    const next = await other.environment.reset(task);
    expect(Number(next.text)).not.toBe(other.pid);
    const last = await idle.environment.reset(task);
    expect(last.text).toBe(next.text);
    await idle.environment.close();
    await other.environment.close();
  });

  it('gives its place back soon when its server does not answer that the episode is closed', async () => {
    await start(1);
    const { environment } = await reset();
    const hanging = Promise.resolve(environment.step('hang')).catch((error: unknown) => error as StepResult);
    await sleep(50);
    const startedAt = performance.now();
    await environment.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    void hanging;
  });
});
