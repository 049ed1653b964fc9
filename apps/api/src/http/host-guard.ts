import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.js';

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Refuses requests that a foreign web page could have made.
 *
 * A page on another site can make its own host name resolve to 127.0.0.1 ("DNS rebinding") and then read
 * answers as its own; its requests still carry that name in `Host`. It can also post forms, but not JSON,
 * without a preflight request. Therefore `Host` must be a known name, and bodies must be JSON.
 */
export function registerHostGuard(server: FastifyInstance, allowedHosts: readonly string[]): void {
  const allowed = new Set([...LOOPBACK_HOSTS, ...allowedHosts.map((host) => host.toLowerCase())]);
  server.addHook('onRequest', (request, _reply, next) => {
    const host = hostnameOf(request);
    if (!allowed.has(host)) {
      next(
        new ProblemError(
          'HOST_NOT_ALLOWED',
          `Host "${host}" is not allowed; allowed are ${[...allowed].join(', ')}. Add other names to RETRACE_API_ALLOWED_HOSTS`,
        ),
      );
      return;
    }
    if (METHODS_WITH_BODY.has(request.method) && !isJson(request)) {
      next(
        new ProblemError(
          'UNSUPPORTED_MEDIA_TYPE',
          `Content-Type is "${request.headers['content-type'] ?? ''}"; it must be application/json`,
        ),
      );
      return;
    }
    next();
  });
}

function hostnameOf(request: FastifyRequest): string {
  const authority = (request.headers.host ?? '').toLowerCase();
  return authority.replace(/:\d+$/, '');
}

function isJson(request: FastifyRequest): boolean {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  return mediaType === 'application/json';
}
