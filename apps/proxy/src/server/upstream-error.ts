import type { ServerResponse } from 'node:http';
import type { JsonObject, JsonValue } from '@retrace/client';
import type { PageRefusal } from '@retrace/page-guard';

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

/** The answer to a foreign web page, in the form of OpenAI's API and of Anthropic's at once. */
export function pageErrorBody({ code, message }: PageRefusal): JsonObject {
  return {
    type: 'error',
    error: { message, type: 'permission_error', param: null, code: code.toLowerCase() },
  };
}

export function sendUpstreamError(client: ServerResponse, status: number, body: JsonValue): void {
  const text = JSON.stringify(body);
  client.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  client.end(text);
}
