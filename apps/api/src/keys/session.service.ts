import { Injectable } from '@nestjs/common';
import { KeyRing, type StoredKey } from '@retrace/process';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.js';
import { AccessControl } from './access-control.js';
import { clearedCookie, readSessionToken, formatSetCookie } from './session-cookie.js';
import { SessionFiles } from './session-files.js';
import type { SessionRequest, SessionStatus } from './session.dto.js';

/** Logs browsers in by a key, and out. */
@Injectable()
export class SessionService {
  constructor(
    private readonly control: AccessControl,
    private readonly keys: KeyRing,
    private readonly sessions: SessionFiles,
  ) {}

  async status({ caller }: FastifyRequest): Promise<SessionStatus> {
    return this.statusOf(caller.kind === 'key' ? caller.key : null);
  }

  /** @throws ProblemError `KEY_INVALID` */
  async logIn({ key }: SessionRequest, request: FastifyRequest, reply: FastifyReply): Promise<SessionStatus> {
    const verdict = await this.keys.verify(key.trim());
    if (verdict.kind === 'refused') throw new ProblemError('KEY_INVALID', verdict.reason);
    const { token, maxAgeSeconds } = await this.sessions.begin(verdict.key.id);
    void reply.header('set-cookie', formatSetCookie(token, maxAgeSeconds, request));
    return this.statusOf(verdict.key);
  }

  async logOut(request: FastifyRequest, reply: FastifyReply): Promise<SessionStatus> {
    const token = readSessionToken(request);
    if (token !== undefined) await this.sessions.end(token);
    void reply.header('set-cookie', clearedCookie());
    return this.statusOf(null);
  }

  private async statusOf(key: StoredKey | null): Promise<SessionStatus> {
    return {
      needsKey: await this.control.needsKey(),
      keyId: key?.id ?? null,
      keyName: key?.name ?? null,
      scopes: key?.scopes ?? [],
      expiresAt: key?.expiresAt ?? null,
    };
  }
}
