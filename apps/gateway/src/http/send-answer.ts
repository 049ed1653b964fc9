import type { ServerResponse } from 'node:http';
import type { JsonValue } from '@retrace/client';
import type { RequestError } from './request-error.js';

const TOO_LARGE = 413;

/** Answers with JSON. */
export function sendJson(client: ServerResponse, status: number, body: object | JsonValue): void {
  const text = JSON.stringify(body);
  client.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  client.end(text);
}

/** Answers with an error in the form of OpenAI's API. */
export function sendError(client: ServerResponse, { status, body }: RequestError): void {
  // What is left of a body that is too large is not read: a client that writes all of it first would wait for ever.
  if (status === TOO_LARGE) client.setHeader('connection', 'close');
  sendJson(client, status, body);
}
