import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Authentication } from '../access/authentication.js';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import type { QueryHandler } from './query-handler.js';

export interface HttpInterfaceOptions {
  readonly authentication: Authentication;
  readonly handler: QueryHandler;
  /** Error messages include the engine's version, and every response its time zone. */
  readonly engine: { readonly version: string; readonly timezone: string };
}

/** Serves the routes of ClickHouse's HTTP interface: GET /ping and /replicas_status for health checks, / for statements. */
export function createRequestListener(options: HttpInterfaceOptions): RequestListener {
  return (request, response) => {
    // A client that disconnects is not an error; its statement is cancelled by the event 'close'.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    route(request, response, options).catch((error: unknown) =>
      sendException(request, response, error, options.engine.version),
    );
  };
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpInterfaceOptions,
): Promise<void> {
  response.setHeader('X-ClickHouse-Server-Display-Name', 'retrace');
  response.setHeader('X-ClickHouse-Timezone', options.engine.timezone);
  const url = new URL(request.url ?? '/', 'http://store');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && (url.pathname === '/ping' || url.pathname === '/replicas_status'))
    return sendText(response, 200, 'Ok.\n');
  if (url.pathname !== '/') return sendText(response, 404, `No route for ${url.pathname}; use / or /ping.\n`);
  if (request.method !== 'GET' && request.method !== 'POST') {
    response.setHeader('Allow', 'GET, POST');
    return sendText(response, 405, 'Use GET or POST.\n');
  }
  if (request.method === 'GET' && !url.searchParams.has('query')) return sendText(response, 200, 'Ok.\n');
  const user = options.authentication.authenticate(request.headers, url.searchParams);
  return options.handler.handle(request, response, url.searchParams, user);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=UTF-8' });
  response.end(text);
}

function sendException(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  version: string,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const exception = error instanceof ClickHouseException ? error : ClickHouseException.fromEngine(error);
  response.writeHead(exception.httpStatus, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(exception.exceptionCode),
    // The unread rest of the body would be taken for the next request.
    ...(request.complete ? {} : { Connection: 'close' }),
  });
  response.end(`${exception.message} (version ${version})\n`);
}
