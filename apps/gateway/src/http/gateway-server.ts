import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PageGuard, type PageRefusal } from '@retrace/page-guard';
import { GatewayError } from './gateway-error.js';
import { RequestError } from './request-error.js';
import { sendError } from './send-answer.js';

/** Clients keep connections for a while; a server must not close them first. */
const KEEP_ALIVE_MS = 75_000;
const PROBES: ReadonlySet<string> = new Set(['/health', '/metrics']);

/** Where a server listens, and to whom. */
export interface ListenConfig {
  readonly host: string;
  /** 0 = any. */
  readonly port: number;
  /** Further names of this host, and origins whose pages may use the server. */
  readonly allowedHosts: readonly string[];
  /** Name of the option that adds to them, for messages; null where none does; default `--allowed-hosts`. */
  readonly allowedHostsOption?: string | null;
}

interface GatewayServerOptions extends ListenConfig {
  /** Longest that requests under way may take after a request to stop. */
  readonly stopMs: number;
  readonly warn: (message: string) => void;
  /**
   * @param refusal for the request of a foreign web page, which gets nothing but this
   * @throws RequestError which the client gets for an answer
   */
  readonly handle: (
    request: IncomingMessage,
    client: ServerResponse,
    refusal: PageRefusal | null,
  ) => Promise<void>;
}

/** A server that listens. */
export interface RunningGateway {
  /** Its address, without a path. */
  readonly url: string;
  /** Waits a moment for requests under way, and ends. */
  close(): Promise<void>;
}

/** Listens for the requests of clients, and waits for those under way when it stops. */
export class GatewayServer {
  private readonly server: Server;
  private readonly guard: PageGuard;
  private readonly underWay = new Set<Promise<void>>();

  constructor(private readonly options: GatewayServerOptions) {
    const { host, allowedHosts, allowedHostsOption: addedBy = '--allowed-hosts' } = options;
    this.guard = new PageGuard({ host, allowedHosts, addedBy, probes: PROBES });
    this.server = createServer(
      { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
      (request, response) => {
        // A client that goes away while it is written to must not end this process.
        response.on('error', () => undefined);
        const handled = this.handle(request, response);
        this.underWay.add(handled);
        void handled.finally(() => this.underWay.delete(handled));
      },
    );
  }

  /**
   * Listens.
   *
   * @param closeParts closes what answers are made of: after the server, or at once where it can't listen
   * @throws GatewayError `PORT_TAKEN`
   */
  async listen(closeParts: () => Promise<void>): Promise<RunningGateway> {
    try {
      const url = await this.bind();
      return { url, close: () => this.close().then(closeParts) };
    } catch (error) {
      await closeParts();
      throw error;
    }
  }

  private bind(): Promise<string> {
    const { host, port } = this.options;
    return new Promise((resolve, reject) => {
      this.server.once('error', (cause: NodeJS.ErrnoException) => {
        const said = cause.code === 'EADDRINUSE' ? 'is taken; choose another with --port' : cause.message;
        reject(new GatewayError('PORT_TAKEN', `Port ${port} of ${host} ${said}`, { cause }));
      });
      this.server.listen(port, host, () => {
        const { address, port: chosen, family } = this.server.address() as AddressInfo;
        resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}`);
      });
    });
  }

  /** Takes no more requests; those under way get some time. */
  private async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeIdleConnections();
    const timer = setTimeout(() => {
      this.server.closeAllConnections();
    }, this.options.stopMs);
    await closed;
    clearTimeout(timer);
    await Promise.all(this.underWay);
  }

  private async handle(request: IncomingMessage, client: ServerResponse): Promise<void> {
    try {
      await this.options.handle(request, client, this.guard.refusalOf(request));
    } catch (error) {
      if (error instanceof RequestError && !client.headersSent) {
        sendError(client, error);
        return;
      }
      this.options.warn(`A request failed: ${error instanceof Error ? error.message : String(error)}`);
      client.destroy();
    }
  }
}
