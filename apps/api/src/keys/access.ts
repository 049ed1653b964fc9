import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiQuery, ApiSecurity } from '@nestjs/swagger';
import type { KeyScope } from '@retrace/process';

/**
 * Who may call a route. `open`: anyone. A scope: who has a key with it, or with `admin`; anyone while the server needs no key.
 * `monitoring`: as `read`, and anyone where the server listens on the loopback interface only.
 */
export type AccessLevel = 'open' | 'monitoring' | KeyScope;

/** Names of the security schemes in the OpenAPI document. */
export const BEARER_SCHEME = 'key';
export const COOKIE_SCHEME = 'session';

/** Declares who may call a route. Every method of a controller has it; a route without it needs `admin`. */
export function Access(level: AccessLevel): MethodDecorator {
  const scope = level === 'open' ? [] : [ApiExtension('x-scope', requiredScope(level))];
  // Where no key is needed depends on the server for `monitoring`, so that the document demands none.
  const security =
    level === 'open' || level === 'monitoring'
      ? []
      : [ApiSecurity(BEARER_SCHEME), ApiSecurity(COOKIE_SCHEME)];
  return applyDecorators(RouteConfig({ access: level }), ...scope, ...security);
}

/**
 * As `Access`, of a route that answers from the store: `?asOf=` asks it for what was known at an earlier moment (`registerAsOf`).
 */
export function AccessAsOf(level: KeyScope): MethodDecorator {
  return applyDecorators(
    Access(level),
    RouteConfig({ access: level, hasAsOf: true }),
    ApiQuery({
      name: 'asOf',
      required: false,
      schema: { anyOf: AS_OF_FORMS },
      description: AS_OF,
    }),
  );
}

const AS_OF_FORMS = [
  { type: 'string', format: 'date-time' },
  { type: 'string', format: 'uuid' },
  { type: 'string', pattern: '^(latest|[0-9a-f-]{4,36})@[0-9]{1,9}$' },
];

const AS_OF =
  'Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do';

/** The scope that a key needs at this level. */
export function requiredScope(level: Exclude<AccessLevel, 'open'>): KeyScope {
  return level === 'monitoring' ? 'read' : level;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: AccessLevel;
    /** Whether `?asOf=` may ask for an earlier moment. */
    hasAsOf?: boolean;
  }
}
