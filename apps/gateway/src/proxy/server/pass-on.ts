import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { modelServer, type ModelServerKind } from '@retrace/chat';
import { onClientGone } from '../../http/client-stream.js';
import { sendJson } from '../../http/send-answer.js';
import type { ProxyConfig } from '../proxy-config.js';
import { passedHeaders } from '../upstream/headers.js';
import { KeyMask, withoutKeys } from '../upstream/key-mask.js';
import { answerTo } from '../upstream/upstream.js';
import type { ProxyParts } from './proxy-parts.js';
import { upstreamErrorBody } from './upstream-error.js';

/** Headers of a request for the upstream: the client's, with the key where one is given (`keyFor`). */
export function upstreamHeaders(
  { rawHeaders, headers }: IncomingMessage,
  key: string | null,
  { hasOwnKey, kind }: { readonly hasOwnKey: boolean; readonly kind: ModelServerKind | null },
): string[] {
  const takesApiKey = kind !== null && modelServer(kind).keyHeader === 'x-api-key';
  const usesApiKey =
    headers['x-api-key'] !== undefined || (takesApiKey && headers.authorization === undefined);
  const keyHeaders = hasOwnKey ? ['authorization', 'x-api-key'] : [];
  const passed = passedHeaders(rawHeaders, ['content-length', 'accept-encoding', ...keyHeaders]);
  if (key === null) return passed;
  return [...passed, ...(usesApiKey ? ['x-api-key', key] : ['authorization', `Bearer ${key}`])];
}

/** The proxy's key, where a request is sent with it: the agent has none of its own. */
export function keyFor(
  { headers }: IncomingMessage,
  { upstreamKey }: ProxyConfig,
  hasOwnKey: boolean,
): string | null {
  const hasKey = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  return hasKey && !hasOwnKey ? null : upstreamKey;
}

interface PassedRequest {
  readonly request: IncomingMessage;
  readonly client: ServerResponse;
  readonly path: string;
  /** The beginning of the body, which was read already. */
  readonly read?: Buffer;
  readonly hasOwnKey: boolean;
}

/** Passes any request on, and its answer back, as they are. */
export async function passOn(
  parts: ProxyParts,
  { request, client, path, read, hasOwnKey }: PassedRequest,
): Promise<void> {
  const key = keyFor(request, parts.config, hasOwnKey);
  const mask = KeyMask.of(key);
  const headers = upstreamHeaders(request, key, { hasOwnKey, kind: parts.detector.current?.kind ?? null });
  const {
    'content-length': length,
    'transfer-encoding': chunked,
    'accept-encoding': encoding,
  } = request.headers;
  const sent = parts.upstream.begin({
    method: request.method ?? 'GET',
    path,
    headers: [
      ...headers,
      ...(length === undefined ? [] : ['content-length', length]),
      ...(chunked === undefined ? [] : ['transfer-encoding', 'chunked']),
      // The key could not be found in a compressed answer.
      ...(mask ? ['accept-encoding', 'identity'] : []),
      ...(mask || encoding === undefined ? [] : ['accept-encoding', [encoding].flat().join(', ')]),
    ],
  });
  onClientGone(client, () => sent.destroy());
  try {
    const answered = answerTo(sent);
    if (read) sent.write(read);
    const sending = request.readableEnded ? ended(sent) : pipeline(request, sent);
    const upstream = await Promise.race([answered, sending.then(() => answered)]);
    const passed = passedHeaders(upstream.rawHeaders).map((text) =>
      withoutKeys(text, mask ? [key ?? ''] : []),
    );
    client.writeHead(upstream.statusCode ?? 502, upstream.statusMessage, passed);
    await (mask ? pipeline(upstream, mask.stream(), client) : pipeline(upstream, client));
  } catch (error) {
    if (client.headersSent) {
      client.destroy();
      return;
    }
    const { status, body } = upstreamErrorBody(error);
    sendJson(client, status, body);
  }
}

/** Ends a request whose body was read already. */
function ended(sent: ClientRequest): Promise<void> {
  sent.end();
  return Promise.resolve();
}
