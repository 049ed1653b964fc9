import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DOCUMENTATION_ROUTES } from '../http/documentation.js';
import { ProblemError } from '../problems/problem.js';
import { requiredScope, type AccessLevel } from './access.js';
import type { AccessControl, Caller } from './access-control.js';

const WINDOW_MS = 1_000;
/** Routes of files: those of the dashboard, whose login form anyone may see, and the documentation. */
const FILE_ROUTES = ['/*', ...DOCUMENTATION_ROUTES];
/** Routes that no controller has: files, and the document of this API. */
const OPEN_ROUTES: ReadonlySet<string> = new Set([...FILE_ROUTES, '/api/openapi.json']);
/** Probes and scrapers come every few seconds, and a limit would make a busy server look dead. */
const UNLIMITED_ROUTES: ReadonlySet<string> = new Set([...FILE_ROUTES, '/healthz', '/readyz', '/metrics']);

const ANYONE: Caller = { kind: 'anyone' };

interface AccessOptions {
  readonly control: AccessControl;
  /** Requests a second of one key, or of one address without a key; 0 for no limit. */
  readonly rateLimit: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

/** Identifies who makes each request, bounds how many they make, and refuses what they may not do, all before a body is read. */
export async function registerAccess(
  server: FastifyInstance,
  { control, rateLimit: max }: AccessOptions,
): Promise<void> {
  await server.register(rateLimit, { global: false });
  const count = server.createRateLimit({
    max,
    timeWindow: WINDOW_MS,
    keyGenerator: ({ caller, ip }) => (caller.kind === 'key' ? `key ${caller.key.id}` : `address ${ip}`),
  });
  server.addHook('onRequest', async (request, reply) => {
    const { url = '/*' } = request.routeOptions;
    const level = request.routeOptions.config.access ?? (OPEN_ROUTES.has(url) ? 'open' : 'admin');
    const isUnlimited = UNLIMITED_ROUTES.has(url);
    request.caller = level === 'open' && isUnlimited ? ANYONE : await control.identify(request);
    if (max > 0 && !isUnlimited) {
      const limit = await count(request);
      if (!limit.isAllowed && limit.isExceeded) refuseAsTooMany(request, reply, limit.ttlInSeconds, max);
    }
    requireLevel({ control, request, reply }, level);
  });
}

interface Exchange {
  readonly control: AccessControl;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Refuses what a caller may not do, with the header that says what is missing. @throws ProblemError as `AccessControl.check` */
export function requireLevel({ control, request, reply }: Exchange, level: AccessLevel, what?: string): void {
  try {
    control.check(request.caller, level, what);
  } catch (error) {
    if (error instanceof ProblemError) void reply.headers(toChallenge(error, level));
    throw error;
  }
}

function refuseAsTooMany(
  request: FastifyRequest,
  reply: FastifyReply,
  retryAfterSeconds: number,
  max: number,
): never {
  void reply.header('retry-after', `${Math.max(1, retryAfterSeconds)}`);
  const who = request.caller.kind === 'key' ? 'This key' : 'This address';
  throw new ProblemError(
    'RATE_LIMITED',
    `${who} sends more than ${max} requests a second, which is the limit (RETRACE_API_RATE_LIMIT)`,
  );
}

/** The header by which RFC 6750 says what is missing. */
function toChallenge({ code }: ProblemError, level: AccessLevel): Record<string, string> {
  const realm = 'Bearer realm="retrace"';
  switch (code) {
    case 'KEY_REQUIRED':
      return { 'www-authenticate': realm };
    case 'KEY_INVALID':
      return { 'www-authenticate': `${realm}, error="invalid_token"` };
    case 'SCOPE_MISSING':
      return {
        'www-authenticate': `${realm}, error="insufficient_scope", scope="${level === 'open' ? '' : requiredScope(level)}"`,
      };
    default:
      return {};
  }
}
