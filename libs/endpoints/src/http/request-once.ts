import { EndpointError } from '../endpoint-error.js';

const SHOWN_CHARACTERS = 200;

/** One attempt at a request. */
export interface Attempt {
  /** Default POST. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time for one attempt. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Makes a request, and returns the text of its answer. @throws EndpointError */
export async function requestOnce(url: string, request: Attempt, maxBytes: number): Promise<string> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}${request.path}`, {
      method: request.method ?? 'POST',
      headers: { 'content-type': 'application/json', ...request.headers },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      signal,
    });
    const text = await readBounded(response, maxBytes);
    if (!response.ok) throw statusError(response, text);
    return text;
  } catch (cause) {
    if (cause instanceof EndpointError) throw cause;
    if (request.signal?.aborted) throw cause;
    if (timeout.aborted) {
      throw new EndpointError('TIMEOUT', `no answer within the timeout of ${request.timeoutMs} ms`, {
        cause,
      });
    }
    throw new EndpointError('UNREACHABLE', reasonOf(cause), { cause });
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let numBytes = 0;
  for await (const chunk of response.body ?? []) {
    numBytes += (chunk as Uint8Array).length;
    if (numBytes > maxBytes) {
      throw new EndpointError('MALFORMED_ANSWER', `the answer has more than ${maxBytes} bytes`);
    }
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function statusError({ status, headers }: Response, text: string): EndpointError {
  const detail = text.slice(0, SHOWN_CHARACTERS).trim();
  const seconds = Number(headers.get('retry-after') ?? 0);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : 0;
  const message = `HTTP ${status}${detail === '' ? '' : `: ${detail}`}`;
  return new EndpointError('HTTP_STATUS', message, { status, retryAfterMs });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && error.message === 'fetch failed' ? cause.message : error.message;
}
