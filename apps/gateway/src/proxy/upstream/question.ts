import { text } from 'node:stream/consumers';
import type { JsonValue } from '@retrace/client';
import { parsedObject } from '@retrace/chat';
import { Cancellation } from './cancellation.js';
import type { Upstream } from './upstream.js';

/** Longest that the answer to a question is waited for. */
const LIMIT_MS = 2_000;
const OK = 200;

/** Fields of a JSON object that came from the upstream; {} where the answer was none or another status than 200. */
export type Told = Readonly<Record<string, JsonValue | undefined>>;

interface Question {
  readonly path: string;
  /** Body of a POST; undefined for a GET. */
  readonly body?: JsonValue;
  /** null: none. */
  readonly key?: string | null;
}

/** Asks the upstream something of itself. null: it gave no answer. */
export async function ask(upstream: Upstream, { path, body, key = null }: Question): Promise<Told | null> {
  const cancellation = new Cancellation();
  const timer = setTimeout(() => {
    cancellation.cancel();
  }, LIMIT_MS);
  const sent = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const headers = [
    ...['accept', 'application/json', 'accept-encoding', 'identity'],
    ...(sent === null ? [] : ['content-type', 'application/json', 'content-length', `${sent.length}`]),
    ...(key === null ? [] : ['authorization', `Bearer ${key}`]),
  ];
  try {
    const request = { method: sent === null ? 'GET' : 'POST', path, headers };
    const response = await upstream.send(request, sent, cancellation);
    const answer = await text(response);
    return response.statusCode === OK ? (parsedObject(answer) ?? {}) : {};
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
