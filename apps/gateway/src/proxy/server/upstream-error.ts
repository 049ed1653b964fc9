import { errorBody, type ErrorBody } from '@retrace/chat';
import type { PageRefusal } from '@retrace/page-guard';

const BAD_GATEWAY = 502;
const GATEWAY_TIMEOUT = 504;

/** The answer of the proxy itself where the upstream gives none. */
export function upstreamErrorBody(error: unknown): { readonly status: number; readonly body: ErrorBody } {
  const { message, code = null } = error as NodeJS.ErrnoException;
  const isSilent = code === 'UPSTREAM_SILENT';
  const type = isSilent ? 'upstream_timeout' : 'upstream_unreachable';
  const said = message || code || 'unknown error';
  return {
    status: isSilent ? GATEWAY_TIMEOUT : BAD_GATEWAY,
    body: errorBody({ message: `The upstream gave no answer: ${said}`, type, code }),
  };
}

/** The answer to a foreign web page, in the form of OpenAI's API and of Anthropic's at once. */
export function pageErrorBody({ code, message }: PageRefusal): ErrorBody & { readonly type: 'error' } {
  return {
    type: 'error',
    ...errorBody({ message, type: 'permission_error', code: code.toLowerCase() }),
  };
}
