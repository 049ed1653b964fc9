import { expect, it } from 'vitest';
import { passedHeaders } from './headers.js';

it('passes headers in their order and spelling, without those of this connection and of Retrace', () => {
  const raw = ['Host', 'proxy', 'X-Title', 'a', 'Connection', 'close, X-Once', 'x-once', '1', 'Cookie', 'b'];
  const more = ['X-Retrace-Episode', 'e', 'Transfer-Encoding', 'chunked', 'cookie', 'c', 'Accept', '*/*'];
  expect(passedHeaders([...raw, ...more], ['accept'])).toEqual([
    'X-Title',
    'a',
    'Cookie',
    'b',
    'cookie',
    'c',
  ]);
});
