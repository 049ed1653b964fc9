import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PageGuard } from '@retrace/page-guard';
import { RECORD_MEDIA_TYPES } from '@retrace/recording';
import { recordMediaType, takesRecords } from './records-route.js';
import { ProblemError } from '../problems/problem.js';

/** Probes and scrapers name this host as they like: by its address in a cluster, or by the name of a service. They tell nothing of a run's content. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

interface PageGuardConfig {
  readonly host: string;
  readonly allowedHosts: readonly string[];
}

/**
 * Refuses requests that a foreign web page could have made: by the rule of all servers (`@retrace/page-guard`), and by their bodies, which must be JSON, or of
 * another type that no form can have.
 */
export function registerPageGuard(server: FastifyInstance, { host, allowedHosts }: PageGuardConfig): void {
  const guard = new PageGuard({
    host,
    allowedHosts,
    addedBy: 'RETRACE_API_ALLOWED_HOSTS',
    probes: PROBES,
    isPage: (target) => !target.startsWith('/api/'),
  });
  server.addHook('onRequest', (request, _reply, next) => {
    const refusal = guard.refusalOf(request.raw);
    if (refusal !== null) {
      next(new ProblemError(refusal.code, refusal.message));
      return;
    }
    const isKnown = takesRecords(request) ? recordMediaType(request) !== null : isJson(request);
    if (METHODS_WITH_BODY.has(request.method) && !isKnown) {
      const allowedTypes = takesRecords(request) ? RECORD_MEDIA_TYPES.join(', ') : 'application/json';
      next(
        new ProblemError(
          'UNSUPPORTED_MEDIA_TYPE',
          `Content-Type is "${request.headers['content-type'] ?? ''}"; it must be ${allowedTypes}`,
        ),
      );
      return;
    }
    next();
  });
}

function isJson(request: FastifyRequest): boolean {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  return mediaType === 'application/json';
}
