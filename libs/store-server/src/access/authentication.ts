import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ClickHouseException } from '../statement/clickhouse-exception.js';

/** A user of the store server. */
export interface StoreUser {
  readonly name: string;
  readonly password: string;
  /** `readonly` users only read Retrace's own tables, within limits. */
  readonly access: 'full' | 'readonly';
}

/** Finds the user of a request by HTTP basic, the X-ClickHouse headers, or URL parameters, as ClickHouse does. */
export class Authentication {
  private readonly users: readonly { readonly user: StoreUser; readonly passwordHash: Buffer }[];

  constructor(users: readonly StoreUser[]) {
    this.users = users.map((user) => ({ user, passwordHash: hash(user.password) }));
  }

  /** @throws ClickHouseException AUTHENTICATION_FAILED, with the same message and after the same time for an unknown user and a wrong password */
  authenticate(headers: IncomingHttpHeaders, parameters: URLSearchParams): StoreUser {
    const { name, password } = readCredentials(headers, parameters);
    const given = hash(password);
    let found: StoreUser | null = null;
    for (const { user, passwordHash } of this.users) {
      // Every password is compared, so the time taken does not reveal which names exist.
      if (timingSafeEqual(given, passwordHash) && user.name === name) found = user;
    }
    if (found === null) {
      throw ClickHouseException.of(
        'AUTHENTICATION_FAILED',
        `${name}: Authentication failed: password is incorrect, or there is no user with such name`,
      );
    }
    return found;
  }
}

function readCredentials(
  headers: IncomingHttpHeaders,
  parameters: URLSearchParams,
): Pick<StoreUser, 'name' | 'password'> {
  const headerName = headers['x-clickhouse-user'];
  const headerPassword = headers['x-clickhouse-key'];
  if (headerName !== undefined || headerPassword !== undefined) {
    return { name: singleHeader(headerName) || 'default', password: singleHeader(headerPassword) };
  }
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '');
  if (basic !== null) {
    const text = Buffer.from(basic[1], 'base64').toString();
    const colon = text.indexOf(':');
    return colon < 0
      ? { name: text, password: '' }
      : { name: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  return { name: parameters.get('user') ?? 'default', password: parameters.get('password') ?? '' };
}

function singleHeader(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
