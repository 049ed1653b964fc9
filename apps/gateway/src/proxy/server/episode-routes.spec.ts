import { expect, it } from 'vitest';
import { GatewayServer } from '../../http/gateway-server.js';
import { endEpisode, rewardEpisode } from './episode-routes.js';
import type { ProxyParts } from './proxy-parts.js';

it.each([
  ['end', endEpisode],
  ['reward', rewardEpisode],
])('refuses a body of more than 1 MiB as too large, before anything is recorded: %s', async (_, route) => {
  const server = new GatewayServer({
    ...{ host: '127.0.0.1', port: 0, allowedHosts: [], stopMs: 100, warn: () => undefined },
    handle: (request, client) => route({} as ProxyParts, request, client, 'one'),
  });
  const body = '{}'.padEnd(1024 ** 2 + 1);
  const { url, close } = await server.listen(() => Promise.resolve());
  const answer = await fetch(url, { method: 'POST', body });
  expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'close']);
  expect(await answer.json()).toMatchObject({ error: { code: 'body_too_large' } });
  await close();
});
