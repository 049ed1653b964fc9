import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { upstreamAddress } from './address.js';
import type { Cancellation } from './cancellation.js';

const SWITCHING_PROTOCOLS = 101;

/** A header as `rawHeaders` has it: name and value one after the other. */
export type RawHeaders = readonly string[];

export interface UpstreamRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: RawHeaders;
}

/** The model server that calls are passed on to, over connections that stay open. */
export class Upstream {
  readonly url: URL;
  private readonly base: string;
  private readonly agent: HttpAgent;

  /** @throws GatewayError `OPTION_INVALID` when the address is no HTTP address, or has a password in it */
  constructor(
    address: string,
    private readonly timeoutMs: number,
  ) {
    const url = upstreamAddress('--upstream', address, {
      example: 'http://127.0.0.1:8000/v1',
      keyOption: '--upstream-key-env',
    });
    this.url = url;
    this.base = url.pathname.replace(/\/$/, '').replace(/\/v1$/, '');
    const options = { keepAlive: true, maxSockets: Infinity };
    this.agent = url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** Begins a request, whose body the caller writes. Silence for longer than the limit destroys it. */
  begin({ method, path, headers }: UpstreamRequest): ClientRequest {
    const send = this.url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send({
      host: this.url.hostname.replace(/^\[|\]$/g, ''),
      port: this.url.port,
      agent: this.agent,
      method,
      path: `${this.base}${path}`,
      headers: ['host', this.url.host, ...headers],
      timeout: this.timeoutMs,
    });
    // Errors may come after the caller has its answer, and must not end this process.
    request.on('error', () => undefined);
    request.on('timeout', () => {
      request.destroy(new UpstreamSilent(this.timeoutMs));
    });
    return request;
  }

  /**
   * Sends a request whose body is whole. A connection that the upstream had closed meanwhile is replaced once.
   *
   * @throws Error when the upstream gives no answer, changes to another protocol (status 101), or the request is cancelled
   */
  send(request: UpstreamRequest, body: Buffer | null, cancellation: Cancellation): Promise<IncomingMessage> {
    const attempt = async (isFirst: boolean): Promise<IncomingMessage> => {
      const sent = this.begin(request);
      const answered = answerTo(sent);
      const abort = () => {
        sent.destroy(new Error('the client went away'));
      };
      cancellation.listen(abort);
      if (cancellation.isCancelled) abort();
      else sent.end(body ?? undefined);
      try {
        return await answered;
      } catch (error) {
        const isReset = (error as NodeJS.ErrnoException).code === 'ECONNRESET';
        if (!isFirst || !isReset || !sent.reusedSocket || cancellation.isCancelled) throw error;
        return attempt(false);
      }
    };
    return attempt(true);
  }

  close(): void {
    this.agent.destroy();
  }
}

/** The answer to a request. @throws Error when there is none, or it changes to another protocol, as nobody had asked for it */
export function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const refuse = () => {
      sent.destroy();
      reject(new UpstreamSwitched());
    };
    sent.once('response', (answer) => {
      if (answer.statusCode === SWITCHING_PROTOCOLS) refuse();
      else resolve(answer);
    });
    sent.once('upgrade', (_, socket) => {
      socket.destroy();
      refuse();
    });
    sent.on('error', reject);
  });
}

/** The upstream answered that it goes on with another protocol. */
export class UpstreamSwitched extends Error {
  readonly code = 'UPSTREAM_SWITCHED';

  constructor() {
    super('it changed to another protocol (status 101), which nobody had asked for');
    this.name = 'UpstreamSwitched';
  }
}

/** The upstream sent nothing for longer than the limit. */
export class UpstreamSilent extends Error {
  readonly code = 'UPSTREAM_SILENT';

  constructor(timeoutMs: number) {
    super(`The upstream sent nothing for ${timeoutMs} ms`);
    this.name = 'UpstreamSilent';
  }
}
