import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
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
  const scope = level === 'open' ? [] : [ApiExtension('x-scope', scopeOf(level))];
  // Where no key is needed depends on the server for `monitoring`, so that the document demands none.
  const security =
    level === 'open' || level === 'monitoring'
      ? []
      : [ApiSecurity(BEARER_SCHEME), ApiSecurity(COOKIE_SCHEME)];
  return applyDecorators(RouteConfig({ access: level }), ...scope, ...security);
}

/** The scope that a key needs at this level. */
export function scopeOf(level: Exclude<AccessLevel, 'open'>): KeyScope {
  return level === 'monitoring' ? 'read' : level;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: AccessLevel;
  }
}
