import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sender, SenderCounts } from '@retrace/client';
import { PageGuard } from '@retrace/page-guard';
import { ProxyError } from '../proxy-config.js';
import { handleCall, recordableBody } from './call-handler.js';
import { endEpisode, rewardEpisode } from './episode-routes.js';
import { passOn } from './pass-on.js';
import type { ProxyParts } from './proxy-parts.js';
import { readBody } from './read-body.js';
import { readCallHeaders } from './request-headers.js';
import { createProtocols, routeOf, type Route } from './route.js';
import { pageErrorBody, sendUpstreamError } from './upstream-error.js';

/** Clients keep connections for a while; this one must not close them first. */
const KEEP_ALIVE_MS = 75_000;
/** Longest that calls under way may take after a request to stop. */
const STOP_MS = 10_000;
const PROBES: ReadonlySet<string> = new Set(['/health', '/metrics']);
const FORBIDDEN = 403;

/** The HTTP server of a proxy. */
export class ProxyServer {
  private readonly protocols = createProtocols();
  private readonly server: Server;
  private readonly guard: PageGuard;
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly parts: ProxyParts,
    private readonly sender: Sender,
  ) {
    const { host, allowedHosts, allowedHostsOption: addedBy = '--allowed-hosts' } = parts.config;
    this.guard = new PageGuard({ host, allowedHosts, addedBy, probes: PROBES });
    this.server = createServer(
      { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
      (request, response) => {
        // A client that goes away while it is written to must not end this process.
        response.on('error', () => undefined);
        const handled = this.handle(request, response).catch((error: unknown) => {
          parts.warn(`A request failed: ${error instanceof Error ? error.message : String(error)}`);
          response.destroy();
        });
        this.underWay.add(handled);
        void handled.finally(() => this.underWay.delete(handled));
      },
    );
  }

  /** @returns its address @throws ProxyError `PORT_TAKEN` */
  listen(): Promise<string> {
    const { host, port } = this.parts.config;
    return new Promise((resolve, reject) => {
      this.server.once('error', (cause: NodeJS.ErrnoException) => {
        const said = cause.code === 'EADDRINUSE' ? 'is taken; choose another with --port' : cause.message;
        reject(new ProxyError('PORT_TAKEN', `Port ${port} of ${host} ${said}`, { cause }));
      });
      this.server.listen(port, host, () => {
        const { address, port: chosen, family } = this.server.address() as AddressInfo;
        resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}`);
      });
    });
  }

  /** Takes no more requests; those under way get some time. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeIdleConnections();
    const timer = setTimeout(() => {
      this.server.closeAllConnections();
    }, STOP_MS);
    await closed;
    clearTimeout(timer);
    await Promise.all(this.underWay);
  }

  private async handle(request: IncomingMessage, client: ServerResponse): Promise<void> {
    const refusal = this.guard.refusalOf(request);
    if (refusal !== null) {
      sendUpstreamError(client, FORBIDDEN, pageErrorBody(refusal));
      return;
    }
    const route = routeOf(request.method ?? 'GET', request.url ?? '/', this.protocols);
    const isProbe = route.kind === 'health' || route.kind === 'metrics';
    const refused = isProbe ? null : ((await this.parts.config.refusalOf?.(request.headers)) ?? null);
    if (refused !== null) {
      sendUpstreamError(client, refused.status, refused.body);
      return;
    }
    switch (route.kind) {
      case 'call':
        return this.call(request, client, route);
      case 'pass': {
        const { hasOwnKey } = readCallHeaders(request.headers, null);
        return passOn(this.parts, { request, client, path: route.path, hasOwnKey });
      }
      case 'end':
        return endEpisode(this.parts, request, client, route.episode);
      case 'reward':
        return rewardEpisode(this.parts, request, client, route.episode);
      case 'health':
        return this.health(client);
      case 'metrics':
        return this.metrics(client);
    }
  }

  private async call(
    request: IncomingMessage,
    client: ServerResponse,
    { protocol, path, episode }: Extract<Route, { kind: 'call' }>,
  ): Promise<void> {
    const { metrics, config } = this.parts;
    const { bytes, isWhole } = await readBody(request, config.maxBodyBytes);
    const isEncoded = request.headers['content-encoding'] !== undefined;
    const body = isWhole && !isEncoded ? recordableBody(protocol, bytes) : null;
    if (body) return handleCall(this.parts, { request, client, protocol, path, episode, bytes, body });
    metrics.unrecorded.inc({
      reason: !isWhole ? 'too_large' : isEncoded ? 'encoded' : 'not_one_conversation',
    });
    const { hasOwnKey } = readCallHeaders(request.headers, episode);
    return passOn(this.parts, { request, client, path, read: bytes, hasOwnKey });
  }

  private health(client: ServerResponse): void {
    const { detector, config, recorder } = this.parts;
    const { stats } = this.sender;
    const { numPending, numAcknowledged, numRefused, numDropped } = stats;
    const { journal, spool } = recorder.diskFailures;
    client.setHeader('content-type', 'application/json');
    client.end(
      JSON.stringify({
        status: statusOf(stats, journal ?? spool),
        upstream: {
          url: config.upstream,
          kind: detector.current?.kind ?? null,
          tokenizer: detector.current?.tokenizerHash ?? null,
        },
        retrace: { url: config.retraceUrl, numPending, numAcknowledged, numRefused, numDropped },
        disk: { journal: journal ?? 'ok', spool: spool ?? 'ok' },
        openEpisodes: recorder.numOpenEpisodes,
        poorerEpisodes: stats.numPoorerEpisodes,
        brokenEpisodes: stats.numBrokenEpisodes,
        damagedEpisodes: stats.damagedEpisodes,
      }),
    );
  }

  private async metrics(client: ServerResponse): Promise<void> {
    const { registry } = this.parts.metrics;
    client.setHeader('content-type', registry.contentType);
    client.end(await registry.metrics());
  }
}

/** @param diskFailure why the journal or the spool could not be written */
function statusOf({ numBrokenEpisodes }: SenderCounts, diskFailure: string | null): string {
  if (diskFailure !== null) return 'disk can not be written';
  return numBrokenEpisodes > 0 ? 'episodes broken off' : 'ok';
}
