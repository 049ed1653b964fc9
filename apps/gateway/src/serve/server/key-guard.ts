import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '@retrace/page-guard';
import { KeyRing, type KeyScope } from '@retrace/process';
import { RequestError } from '../../http/request-error.js';

export interface KeyGuardOptions {
  readonly host: string;
  /** Null where no key is asked for. */
  readonly keyDirectory: string | null;
  readonly onWarning: (line: string) => void;
  /** Scope that a key needs, unless it has `admin`; default `read`. */
  readonly scope?: KeyScope;
  /** Key of the processes of this server. */
  readonly ownKey?: string | null;
}

/** Asks for API keys as Retrace's API does: always beyond the loopback interface, and on it as soon as there is a key. */
export class KeyGuard {
  private readonly keys: KeyRing | null;
  private readonly isLocal: boolean;
  private readonly scope: KeyScope;

  constructor({ host, keyDirectory, onWarning, scope = 'read', ownKey = null }: KeyGuardOptions) {
    this.scope = scope;
    this.isLocal = isLoopback(host);
    this.keys =
      keyDirectory === null
        ? null
        : new KeyRing({
            directory: keyDirectory,
            toError: (reason) =>
              new RequestError(`The API keys can't be read: ${reason}`, {
                status: 503,
                code: 'keys_unavailable',
              }),
            ...{ onWarning, ownKey },
          });
  }

  /** @throws RequestError 401 without a usable key, 403 where the key lacks the scope, 503 where the keys can't be read */
  async check({ authorization }: IncomingHttpHeaders): Promise<void> {
    const { keys } = this;
    if (keys === null || (this.isLocal && !(await keys.hasKeys()))) return;
    const [, sent] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (sent === undefined) throw refused('This server needs an API key: send "Authorization: Bearer <key>"');
    const verdict = await keys.verify(sent);
    if (verdict.kind === 'refused') throw refused(verdict.reason);
    const { name, scopes } = verdict.key;
    if (scopes.includes(this.scope) || scopes.includes('admin')) return;
    const message = `This server needs the scope "${this.scope}"; key "${name}" has ${scopes.join(', ')}`;
    throw new RequestError(message, { status: 403, code: 'scope_missing' });
  }

  /** Resolves once nothing is written any more about the keys that were checked. */
  async close(): Promise<void> {
    await this.keys?.close();
  }
}

function refused(message: string): RequestError {
  return new RequestError(message, { status: 401, code: 'invalid_api_key' });
}
