import type { Dispatcher } from 'undici';
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

interface Server {
  readonly connections: Dispatcher;
  /** Path that those of requests are appended to; no slash at its end. */
  readonly basePath: string;
  readonly maxAnswerBytes: number;
}

/** Makes a request, and returns the text of its answer. @throws EndpointError; what the signal aborts with */
export async function requestOnce(
  { connections, basePath, maxAnswerBytes }: Server,
  { method = 'POST', path, body, headers, timeoutMs, signal }: Attempt,
): Promise<string> {
  const deadline = new Deadline(timeoutMs, signal);
  try {
    const response = await connections.request({
      method,
      path: basePath + path,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
      signal: deadline.signal,
    });
    const text = await readBounded(response.body, maxAnswerBytes);
    if (response.statusCode >= 300) throw statusError(response, text);
    return text;
  } catch (cause) {
    if (cause instanceof EndpointError) throw cause;
    if (signal?.aborted) throw cause;
    if (deadline.hasPassed) {
      throw new EndpointError('TIMEOUT', `no answer within the timeout of ${timeoutMs} ms`, { cause });
    }
    throw new EndpointError('UNREACHABLE', cause instanceof Error ? cause.message : String(cause), { cause });
  } finally {
    deadline.end();
  }
}

/** Aborts a request after a time, or when its caller does. `AbortSignal.any` of both costs more than a whole request does. */
class Deadline {
  hasPassed = false;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly cancel = (): void => {
    this.controller.abort(this.caller?.reason);
  };

  constructor(
    timeoutMs: number,
    private readonly caller: AbortSignal | undefined,
  ) {
    this.timer = setTimeout(() => {
      this.hasPassed = true;
      this.controller.abort();
    }, timeoutMs);
    if (caller?.aborted) this.cancel();
    caller?.addEventListener('abort', this.cancel, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  end(): void {
    clearTimeout(this.timer);
    this.caller?.removeEventListener('abort', this.cancel);
  }
}

async function readBounded(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let numBytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    numBytes += chunk.length;
    if (numBytes > maxBytes) {
      throw new EndpointError('MALFORMED_ANSWER', `the answer has more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function statusError({ statusCode: status, headers }: Dispatcher.ResponseData, text: string): EndpointError {
  const detail = text.slice(0, SHOWN_CHARACTERS).trim();
  const retryAfterMs = waitOf(headers);
  const message = `HTTP ${status}${detail === '' ? '' : `: ${detail}`}`;
  return new EndpointError('HTTP_STATUS', message, { status, retryAfterMs });
}

/** Wait that the server asks for: milliseconds (OpenAI), seconds, or a date (RFC 9110, 10.2.3). */
function waitOf(headers: Dispatcher.ResponseData['headers']): number | null {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = String(headers['retry-after'] ?? '');
  const ms = /^\d+(\.\d+)?$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
