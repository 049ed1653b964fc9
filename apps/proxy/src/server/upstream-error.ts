import type { ServerResponse } from 'node:http';
import type { JsonValue } from '@retrace/client';

const BAD_GATEWAY = 502;
const GATEWAY_TIMEOUT = 504;

/** An error in the form of OpenAI's API, which its clients understand. */
interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: null;
    readonly code: string | null;
  };
}

/** The answer of the proxy itself where the upstream gives none. */
export function upstreamErrorBody(error: unknown): { readonly status: number; readonly body: ErrorBody } {
  const { message, code = null } = error as NodeJS.ErrnoException;
  const isSilent = code === 'UPSTREAM_SILENT';
  const type = isSilent ? 'upstream_timeout' : 'upstream_unreachable';
  const said = message || code || 'unknown error';
  return {
    status: isSilent ? GATEWAY_TIMEOUT : BAD_GATEWAY,
    body: { error: { message: `The upstream gave no answer: ${said}`, type, param: null, code } },
  };
}

export function sendUpstreamError(client: ServerResponse, status: number, body: JsonValue): void {
  const text = JSON.stringify(body);
  client.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  client.end(text);
}
