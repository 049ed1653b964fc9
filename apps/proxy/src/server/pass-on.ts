import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { JsonValue } from '@retrace/client';
import type { UpstreamKind } from '../protocol/protocol.js';
import { passedHeaders } from '../upstream/headers.js';
import type { ProxyParts } from './proxy-parts.js';
import { sendUpstreamError, upstreamErrorBody } from './upstream-error.js';

/** Headers of a request for the upstream: the client's, with the proxy's key where the client has none of its own. */
export function upstreamHeaders(
  { rawHeaders, headers }: IncomingMessage,
  { config: { upstreamKey } }: Pick<ProxyParts, 'config'>,
  { hasOwnKey, kind }: { readonly hasOwnKey: boolean; readonly kind: UpstreamKind | null },
): string[] {
  const usesApiKey =
    headers['x-api-key'] !== undefined || (kind === 'anthropic' && headers.authorization === undefined);
  const hasKey = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  const keyHeaders = hasOwnKey ? ['authorization', 'x-api-key'] : [];
  const passed = passedHeaders(rawHeaders, ['content-length', 'accept-encoding', ...keyHeaders]);
  if (upstreamKey === null || (hasKey && !hasOwnKey)) return passed;
  return [
    ...passed,
    ...(usesApiKey ? ['x-api-key', upstreamKey] : ['authorization', `Bearer ${upstreamKey}`]),
  ];
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
  const headers = upstreamHeaders(request, parts, { hasOwnKey, kind: parts.detector.current });
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
      ...(encoding === undefined ? [] : ['accept-encoding', [encoding].flat().join(', ')]),
    ],
  });
  client.once('close', () => {
    if (!client.writableFinished) sent.destroy();
  });
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject);
    });
    if (read) sent.write(read);
    const sending = request.readableEnded ? ended(sent) : pipeline(request, sent);
    const upstream = await Promise.race([answered, sending.then(() => answered)]);
    client.writeHead(upstream.statusCode ?? 502, upstream.statusMessage, passedHeaders(upstream.rawHeaders));
    await pipeline(upstream, client);
  } catch (error) {
    if (client.headersSent) {
      client.destroy();
      return;
    }
    const { status, body } = upstreamErrorBody(error);
    sendUpstreamError(client, status, body as unknown as JsonValue);
  }
}

/** Ends a request whose body was read already. */
function ended(sent: ClientRequest): Promise<void> {
  sent.end();
  return Promise.resolve();
}
