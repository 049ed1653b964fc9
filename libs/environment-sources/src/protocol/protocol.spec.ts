import { frozenLake } from '@retrace/environments';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEnvironment, type OpenEnvironment } from '../open-environment.js';
import { ProtocolHost } from '../testing/protocol-host.js';

describe('an environment on a server of Retrace’s protocol', () => {
  let host: ProtocolHost;
  let open: OpenEnvironment;
  beforeEach(async () => {
    host = await ProtocolHost.start(frozenLake);
    const server = { protocol: 'retrace', urls: [host.url], maxEpisodes: 2 } as const;
    open = await openEnvironment({ name: 'lake', server });
  });
  afterEach(async () => {
    await open.close();
    await host.stop();
  });

  const sampled = () => open.spec.sampleTask({ split: 'train', index: 3, seed: 1 });

  it('plays as the environment itself, and takes its facts from hello', async () => {
    expect(open.spec).toMatchObject({
      name: 'lake',
      maxSteps: 10,
      offersAnchors: true,
      words: null,
      maxInstances: 2,
    });
    const { task, seed } = sampled();
    expect(task).toEqual({ split: 'train' });
    const environment = open.spec.create();
    const itself = frozenLake.create();
    const own = frozenLake.sampleTask({ split: 'train', index: 0, seed });
    expect(await environment.reset({ task, seed, member: 2 })).toEqual(itself.reset({ ...own, member: 2 }));
    for (const action of ['left', 'jump', 'down']) {
      expect(await environment.step(action)).toEqual(itself.step(action));
    }
  });

  it('plays several episodes on one connection, and no more than the recipe says at a time', async () => {
    const [first, second, third] = [open.spec.create(), open.spec.create(), open.spec.create()];
    await Promise.all([first.reset(sampled()), second.reset(sampled())]);
    expect(host.numConnections).toBe(1);
    let hasStarted = false;
    const waiting = Promise.resolve(third.reset(sampled())).then(() => (hasStarted = true));
    await second.step('left');
    expect(hasStarted).toBe(false);
    await first.close();
    expect(await waiting).toBe(true);
    expect(host.episodes.size).toBe(2);
  });

  it('refuses a step before reset and after the end, and a task that is not its own', async () => {
    const environment = open.spec.create();
    expect(() => environment.step('left')).toThrow(expect.objectContaining({ code: 'NOT_RESET' }) as Error);
    expect(() => environment.reset({ task: 7, seed: 1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_TASK' }) as Error,
    );
    await environment.reset(sampled());
    await environment.close();
    expect(() => environment.step('left')).toThrow(
      expect.objectContaining({ code: 'EPISODE_OVER' }) as Error,
    );
  });

  it.each([
    ['answers another request', 'otherId', 'PROTOCOL_VIOLATION', 'which no open request has'],
    ['sends what is no JSON', 'noJson', 'PROTOCOL_VIOLATION', 'sent what is no JSON: <html>'],
    ['sends JSON that is no object', 'noObject', 'PROTOCOL_VIOLATION', 'sent null, must be an object'],
    [
      'answers with another type',
      'otherType',
      'PROTOCOL_VIOLATION',
      'answered step with "closed", must be "result"',
    ],
    ['hangs up', 'hangUp', 'SERVER_UNREACHABLE', 'the connection was closed'],
  ] as const)(
    'fails with a typed error when the server %s, and plays again afterwards',
    async (_, fault, code, text) => {
      const environment = open.spec.create();
      await environment.reset(sampled());
      host.fault = fault;
      const error: unknown = await Promise.resolve(environment.step('left')).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code });
      expect((error as Error).message).toContain(text);
      host.fault = null;
      await environment.close();
      const again = open.spec.create();
      await again.reset(sampled());
      expect(await again.step('left')).toMatchObject({ parsedAction: 'left' });
    },
  );

  it('passes on what the environment said when it failed', async () => {
    const environment = open.spec.create();
    await environment.reset(sampled());
    for (const played of host.episodes.values()) await played.close();
    await expect(environment.step('left')).rejects.toMatchObject({
      code: 'SERVER_REFUSED',
      message: expect.stringMatching(/the episode is over.* \(ENVIRONMENT_FAILED\)$/) as string,
    });
  });
});

it('a server that nobody runs is named', async () => {
  const server = { protocol: 'retrace', urls: ['http://127.0.0.1:9'] } as const;
  await expect(openEnvironment({ name: 'gone', server })).rejects.toMatchObject({
    code: 'SERVER_UNREACHABLE',
    message: expect.stringContaining('ws://127.0.0.1:9/ws: ') as string,
  });
});
