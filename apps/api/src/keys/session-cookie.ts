import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';

export const SESSION_COOKIE = 'retrace_session';
/** The scripts of a page can't read the cookie, and other sites can't make the browser send it. */
const OPTIONS = { path: '/api', httpOnly: true, sameSite: 'strict' } as const;

/** The token of the session that a request belongs to; undefined without one. */
export function readSessionToken({ headers }: FastifyRequest): string | undefined {
  return headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[SESSION_COOKIE];
}

/**
 * The value of `Set-Cookie` that gives a browser its token. Browsers name their origin with a POST: where that is HTTPS, also before a
 * proxy that ends it, the cookie never leaves over HTTP.
 */
export function formatSetCookie(token: string, maxAgeSeconds: number, { headers }: FastifyRequest): string {
  const secure = headers.origin?.startsWith('https://') === true;
  return stringifySetCookie(SESSION_COOKIE, token, { ...OPTIONS, secure, maxAge: maxAgeSeconds });
}

/** The value of `Set-Cookie` that makes a browser forget its token. */
export function clearedCookie(): string {
  return stringifySetCookie(SESSION_COOKIE, '', { ...OPTIONS, expires: new Date(0) });
}
