import { Injectable } from '@nestjs/common';
import { isLoopback } from '@retrace/page-guard';
import { formatKeyPrefix, KeyRing, type KeyVerdict, type StoredKey } from '@retrace/process';
import type { FastifyRequest } from 'fastify';
import { ApiConfig } from '../config/api-config.js';
import { ProblemError } from '../problems/problem.js';
import { requiredScope, type AccessLevel } from './access.js';
import { readSessionToken } from './session-cookie.js';
import { SessionFiles } from './session-files.js';

/** Who makes a request. */
export type Caller =
  /** The server needs no key. */
  | { readonly kind: 'anyone' }
  | { readonly kind: 'key'; readonly key: StoredKey }
  | { readonly kind: 'stranger'; readonly problem: ProblemError };

/** Decides who makes a request, and what they may do. */
@Injectable()
export class AccessControl {
  private readonly isLocal: boolean;

  constructor(
    private readonly keys: KeyRing,
    private readonly sessions: SessionFiles,
    { host }: ApiConfig,
  ) {
    this.isLocal = isLoopback(host);
  }

  /** Whether requests need a key: always beyond the loopback interface, and on it as soon as there is a key. */
  async needsKey(): Promise<boolean> {
    return !this.isLocal || (await this.keys.hasKeys());
  }

  /** Finds out who makes a request: by the key in `Authorization`, else by the session in the cookie. */
  async identify(request: FastifyRequest): Promise<Caller> {
    if (!(await this.needsKey())) return { kind: 'anyone' };
    const { authorization } = request.headers;
    if (authorization !== undefined) return toCaller(await this.verifyHeader(authorization));
    const token = readSessionToken(request);
    if (token === undefined)
      return stranger('KEY_REQUIRED', 'This server needs an API key: send "Authorization: Bearer <key>"');
    const session = await this.sessions.find(token);
    if (session === null) return stranger('KEY_REQUIRED', 'The session has ended; log in again');
    return toCaller(await this.keys.verifyId(session.keyId));
  }

  /**
   * @param what needs this level, for the error
   * @throws ProblemError `KEY_REQUIRED`, `KEY_INVALID` or `SCOPE_MISSING` when the caller may not call a route of this level
   */
  check(caller: Caller, level: AccessLevel, what = 'This route'): void {
    if (level === 'open' || caller.kind === 'anyone') return;
    if (level === 'monitoring' && this.isLocal) return;
    if (caller.kind === 'stranger') throw caller.problem;
    const { name, scopes } = caller.key;
    const scope = requiredScope(level);
    if (scopes.includes(scope) || scopes.includes('admin')) return;
    throw new ProblemError(
      'SCOPE_MISSING',
      `${what} needs the scope "${scope}"; key "${name}" (${formatKeyPrefix(caller.key)}) has ${scopes.join(', ')}`,
    );
  }

  /** Whether a request that stays open may go on: meanwhile its key may have been revoked, or its session may have ended. */
  async mayGoOn(request: FastifyRequest, level: AccessLevel): Promise<boolean> {
    try {
      this.check(await this.identify(request), level);
      return true;
    } catch {
      return false;
    }
  }

  private async verifyHeader(authorization: string): Promise<KeyVerdict> {
    const [, key] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    return key === undefined
      ? { kind: 'refused', reason: 'Authorization must be "Bearer <key>"' }
      : this.keys.verify(key);
  }
}

function toCaller(verdict: KeyVerdict): Caller {
  return verdict.kind === 'accepted'
    ? { kind: 'key', key: verdict.key }
    : stranger('KEY_INVALID', verdict.reason);
}

function stranger(code: 'KEY_REQUIRED' | 'KEY_INVALID', detail: string): Caller {
  return { kind: 'stranger', problem: new ProblemError(code, detail) };
}
