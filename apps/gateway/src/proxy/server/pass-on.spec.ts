import type { IncomingMessage } from 'node:http';
import { MODEL_SERVER_KINDS } from '@retrace/chat';
import { describe, expect, it } from 'vitest';
import { upstreamHeaders } from './pass-on.js';

/** A request with these headers. */
function headersOf(headers: Record<string, string>, kind: Parameters<typeof upstreamHeaders>[2]['kind']) {
  const request = { headers, rawHeaders: Object.entries(headers).flat() } as unknown as IncomingMessage;
  return upstreamHeaders(request, 'secret', { hasOwnKey: true, kind });
}

describe('upstreamHeaders', () => {
  const BEARER = ['authorization', 'Bearer secret'];
  const API_KEY = ['x-api-key', 'secret'];

  it.each([null, ...MODEL_SERVER_KINDS])('has the key where %s takes it', (kind) => {
    expect(headersOf({}, kind)).toEqual(kind === 'anthropic' ? API_KEY : BEARER);
  });

  it('has the key where the agent has its own, in place of that', () => {
    expect(headersOf({ authorization: 'Bearer retrace:a' }, 'anthropic')).toEqual(BEARER);
    expect(headersOf({ 'x-api-key': 'retrace:a' }, 'vllm')).toEqual(API_KEY);
  });
});
