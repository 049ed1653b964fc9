import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { MetricsError } from '../metrics-error.js';

/** Where a process serves its metrics. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
}

/** Serves a registry at `/metrics` over HTTP, in Prometheus' text format, to anybody who reaches the address. */
export class MetricsServer {
  private constructor(private readonly server: Server) {}

  /** @throws MetricsError `METRICS_ADDRESS_UNUSABLE` where the address is in use or not of this machine */
  static async start(
    { host, port }: MetricsAddress,
    registry: Pick<Registry, 'metrics' | 'contentType'>,
  ): Promise<MetricsServer> {
    const server = createServer((request, response) => {
      const path = (request.url ?? '').split('?')[0];
      if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
        response
          .writeHead(404, { 'content-type': 'text/plain' })
          .end('Not found: only GET /metrics is served\n');
        return;
      }
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        (error: unknown) =>
          response
            .writeHead(500, { 'content-type': 'text/plain' })
            .end(error instanceof Error ? error.message : 'failed'),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause: NodeJS.ErrnoException) => {
        const why = `metrics can't be served at ${host}:${port} (${cause.code ?? cause.message})`;
        reject(
          new MetricsError('METRICS_ADDRESS_UNUSABLE', `${why}; choose another RETRACE_METRICS_PORT`, {
            cause,
          }),
        );
      });
      server.listen(port, host, resolve);
    });
    // Metrics alone keep no process running.
    server.unref();
    return new MetricsServer(server);
  }

  get url(): string {
    const { address, family, port } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}
