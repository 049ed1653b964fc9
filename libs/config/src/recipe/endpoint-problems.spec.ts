import { describe, expect, it } from 'vitest';
import { resolveRecipe } from '../resolve/resolve-recipe.js';
import { endpointUrls } from './endpoint-recipe.js';

const COMMAND = ['vllm', 'serve', '{model}', '--served-model-name', '{name}', '--port', '{port}'];
const FIRST = 'http://host-1:8000';
const SECOND = 'http://host-2:8000';

function endpointOf(fields: object) {
  const assignments = [`collection.endpoint=${JSON.stringify({ kind: 'vllm', ...fields })}`];
  const { endpoint } = resolveRecipe('webshop-grpo-4gpu', { assignments }).collection;
  if (!endpoint) throw new Error('the recipe has no endpoint');
  return endpoint;
}

describe('the servers of collection.endpoint', () => {
  it('are those of urls, or the one of url, as older recipes have it', () => {
    expect(endpointUrls(endpointOf({ urls: [FIRST, SECOND] }))).toEqual([FIRST, SECOND]);
    expect(endpointUrls(endpointOf({ url: FIRST }))).toEqual([FIRST]);
    expect(endpointUrls(endpointOf({ command: COMMAND, numServers: 64 }))).toEqual([]);
  });

  it('of a preset are one, which one assignment moves and two replace by several', () => {
    const addressesOf = (...assignments: readonly string[]) => {
      const { endpoint } = resolveRecipe('webshop-grpo-4gpu', { assignments }).collection;
      return endpoint && endpointUrls(endpoint);
    };
    expect(addressesOf()).toHaveLength(1);
    expect(addressesOf(`collection.endpoint.url=${FIRST}`)).toEqual([FIRST]);
    const several = `collection.endpoint.urls=${JSON.stringify([FIRST, SECOND])}`;
    expect(() => addressesOf(several)).toThrow('set one of them to null');
    expect(addressesOf('collection.endpoint.url=null', several)).toEqual([FIRST, SECOND]);
  });

  const either = 'collection.endpoint: needs either urls (or url, for one), of servers that run, or command';
  it.each([
    ['nothing', {}, either],
    [
      'urls and url',
      { urls: [FIRST], url: SECOND },
      `collection.endpoint: has urls (["${FIRST}"]) and url ("${SECOND}"); set one of them to null`,
    ],
    ['urls and command', { urls: [FIRST], command: COMMAND }, either],
    ['no address', { urls: [] }, 'collection.endpoint.urls: got []'],
    ['65 addresses', { urls: Array.from({ length: 65 }, (_, n) => `http://host-${n}`) }, '64'],
    [
      'a path',
      { urls: [FIRST, `${SECOND}/v1`] },
      `urls: got "${SECOND}/v1", must be http(s)://host:port without a path`,
    ],
    ['an address twice', { urls: [FIRST, SECOND, `${FIRST}/`] }, `urls: got "${FIRST}/" twice`],
    [
      'a number of servers that run',
      { urls: [FIRST], numServers: 2 },
      'numServers: got 2, must be absent without collection.endpoint.command: it starts the servers',
    ],
    ['no servers', { command: COMMAND, numServers: 0 }, 'numServers: got 0'],
    ['65 servers', { command: COMMAND, numServers: 65 }, 'numServers: got 65'],
    ['a command without {port}', { command: ['{model}', '{name}'] }, 'must contain {port}, which'],
  ])('are refused with %s', (_, fields, message) => {
    expect(() => endpointOf(fields)).toThrow(message);
  });
});
