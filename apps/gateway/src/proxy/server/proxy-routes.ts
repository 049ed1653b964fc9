import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sender, SenderCounts } from '@retrace/client';
import type { PageRefusal } from '@retrace/page-guard';
import { GatewayServer } from '../../http/gateway-server.js';
import { sendMetrics } from '../../http/metrics.js';
import { readBody } from '../../http/read-body.js';
import { sendJson } from '../../http/send-answer.js';
import { handleCall, recordableBody } from './call-handler.js';
import { endEpisode, rewardEpisode } from './episode-routes.js';
import { passOn } from './pass-on.js';
import type { ProxyParts } from './proxy-parts.js';
import { readCallHeaders } from './request-headers.js';
import { createProtocols, findRoute, type Route } from './route.js';
import { pageErrorBody } from './upstream-error.js';

/** Longest that calls under way may take after a request to stop. */
const STOP_MS = 10_000;
const FORBIDDEN = 403;

/** Answers the requests to a proxy. */
export class ProxyRoutes {
  private readonly protocols = createProtocols();

  constructor(
    private readonly parts: ProxyParts,
    private readonly sender: Sender,
  ) {}

  /** The server of these routes, which does not listen yet. */
  server(): GatewayServer {
    const { config, warn } = this.parts;
    return new GatewayServer({
      ...config,
      stopMs: STOP_MS,
      warn,
      handle: (request, client, refusal) => this.handle(request, client, refusal),
    });
  }

  private async handle(
    request: IncomingMessage,
    client: ServerResponse,
    refusal: PageRefusal | null,
  ): Promise<void> {
    if (refusal !== null) {
      sendJson(client, FORBIDDEN, pageErrorBody(refusal));
      return;
    }
    const route = findRoute(request.method ?? 'GET', request.url ?? '/', this.protocols);
    const isProbe = route.kind === 'health' || route.kind === 'metrics';
    const refused = isProbe ? null : ((await this.parts.config.refusalOf?.(request.headers)) ?? null);
    if (refused !== null) {
      sendJson(client, refused.status, refused.body);
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
        return sendMetrics(client, this.parts.metrics.registry);
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
    const { numAcknowledged, numRefused, numDropped } = stats;
    const { numPending, diskFailures } = recorder;
    const { journal, spool } = diskFailures;
    client.setHeader('content-type', 'application/json');
    client.end(
      JSON.stringify({
        status: describeStatus(stats, journal ?? spool),
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
}

/** @param diskFailure why the journal or the spool could not be written */
function describeStatus({ numBrokenEpisodes }: SenderCounts, diskFailure: string | null): string {
  if (diskFailure !== null) return 'disk can not be written';
  return numBrokenEpisodes > 0 ? 'episodes broken off' : 'ok';
}
