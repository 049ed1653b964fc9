import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RECORD_MEDIA_TYPES } from '@retrace/recording';
import { recordMediaType, takesRecords } from '../ingest/records-route.js';
import { ProblemError } from '../problems/problem.js';

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
/** Probes and scrapers name this host as they like: by its address in a cluster, or by the name of a service. */
const PATHS_FOR_ANY_HOST: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Refuses requests that a foreign web page could have made.
 *
 * A page on another site can make its own host name resolve to 127.0.0.1 ("DNS rebinding") and then read
 * answers as its own; its requests still carry that name in `Host`. It can also post forms, but not JSON,
 * without a preflight request. Therefore every name that a request gives this host (in `Host`, and in a target with scheme and host)
 * must be known, and bodies must be JSON, or of another type that no form can have. Probes and `/metrics` answer under any name, as they tell nothing of a run's content.
 */
export function registerHostGuard(server: FastifyInstance, allowedHosts: readonly string[]): void {
  const allowed = new Set([...LOOPBACK_HOSTS, ...allowedHosts.map((host) => host.toLowerCase())]);
  server.addHook('onRequest', (request, _reply, next) => {
    const host = PATHS_FOR_ANY_HOST.has(request.url)
      ? undefined
      : namesOfHost(request).find((name) => !allowed.has(name));
    if (host !== undefined) {
      next(
        new ProblemError(
          'HOST_NOT_ALLOWED',
          `Host "${host}" is not allowed; allowed are ${[...allowed].join(', ')}. Add other names to RETRACE_API_ALLOWED_HOSTS`,
        ),
      );
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

/** The names that a request gives this host; `['']` where it gives none. Node keeps only the first of several `Host` headers. */
function namesOfHost({ raw }: FastifyRequest): string[] {
  const authorities = raw.rawHeaders.filter(
    (_, i, headers) => i % 2 === 1 && headers[i - 1].toLowerCase() === 'host',
  );
  if (authorities.length === 0) authorities.push('');
  const target = raw.url ?? '';
  if (!target.startsWith('/')) authorities.push(URL.canParse(target) ? new URL(target).host : target);
  return authorities.map((authority) => authority.toLowerCase().replace(/:\d+$/, ''));
}

function isJson(request: FastifyRequest): boolean {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  return mediaType === 'application/json';
}
