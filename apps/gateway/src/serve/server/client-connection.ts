import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject } from '@retrace/chat';
import { parseJson, type Dict } from '@retrace/jinja';
import { RequestError } from '../protocol/request-error.js';
import { RequestFields } from '../protocol/request-fields.js';

/** A signal that is aborted when the client goes away before it has its answer. */
export function abortOnClose(client: ServerResponse): AbortSignal {
  const controller = new AbortController();
  client.once('close', () => {
    if (!client.writableFinished) controller.abort(new Error('the client went away'));
  });
  return controller.signal;
}

export function sendJson(client: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  client.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  client.end(text);
}

/** Reads the body of a request. @throws RequestError 413 for more bytes than the limit */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new RequestError(`The body has more than ${maxBytes} bytes`, {
        status: 413,
        code: 'body_too_large',
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads the fields of a request. @throws RequestError for a body that is too large or no JSON object */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<RequestFields> {
  const text = (await readBody(request, maxBytes)).toString();
  const body = parsed(text);
  if (isJsonObject(body)) return new RequestFields(body, { written: () => written(text) });
  throw new RequestError('The body is not a JSON object', { code: 'invalid_json' });
}

/** The same fields with their numbers and the order of their keys. */
function written(text: string): Dict {
  try {
    return parseJson(text) as Dict;
  } catch (error) {
    throw new RequestError((error as Error).message, { code: 'invalid_json' });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
