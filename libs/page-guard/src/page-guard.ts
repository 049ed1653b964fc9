import { isIP } from 'node:net';
import { isLoopback } from './loopback.js';

export interface PageGuardOptions {
  /** Address that the server listens on. */
  readonly host: string;
  /** Further names of this host, and origins such as `http://localhost:3000` whose pages may use the server. */
  readonly allowedHosts: readonly string[];
  /** Name of the option or variable that adds to `allowedHosts`, for messages; null where none does. */
  readonly addedBy: string | null;
  /** Targets that answer under any host name: probes and scrapers name a host as they like. */
  readonly probes?: ReadonlySet<string>;
  /** Whether pages of other sites may link to a target. */
  readonly isPage?: (target: string) => boolean;
}

/** Reads `allowedHosts` from a text: names and origins with commas between them. */
export function readAllowedHosts(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Request line and headers, as `node:http` gives them. */
export interface GuardedRequest {
  readonly method?: string;
  readonly url?: string;
  /** Names and values in turn. `headers` has only the first of several `Host`. */
  readonly rawHeaders: readonly string[];
}

export interface PageRefusal {
  readonly code: 'HOST_NOT_ALLOWED' | 'ORIGIN_NOT_ALLOWED';
  readonly message: string;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** `Sec-Fetch-Site` of a page of this server, and of what the person opens, as from the address bar. */
const OWN_SITES: readonly string[] = ['same-origin', 'none'];

/**
 * Refuses requests that a foreign web page could have made a browser send.
 *
 * - A page whose own name resolves to this host ("DNS rebinding") sends that name in `Host`, so every name that a request gives this host must be known.
 *   Beyond the loopback interface, addresses and names without a dot are known too: no page of the web has one as its name.
 * - Any other page sends `Sec-Fetch-Site`, or at least `Origin` with a POST, which no page can change. Programs send neither, and are let through.
 *
 * Browsers send `Sec-Fetch-Site` to loopback addresses and over HTTPS only: over plain HTTP beyond the loopback interface a page's GET looks like a program's.
 */
export class PageGuard {
  private readonly names: ReadonlySet<string>;
  private readonly addedNames: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  private readonly isLocal: boolean;

  constructor(private readonly options: PageGuardOptions) {
    const { host, allowedHosts } = options;
    const added = allowedHosts.map((name) => name.toLowerCase().replace(/\/$/, ''));
    this.origins = new Set(added.filter((name) => name.includes('://')));
    this.addedNames = new Set(added.filter((name) => !name.includes('://')).map(hostName));
    this.names = new Set([...LOOPBACK_NAMES, hostName(host.toLowerCase()), ...this.addedNames]);
    this.isLocal = isLoopback(host);
  }

  /** Says why a request is refused; null for one that is not. */
  refusalOf(request: GuardedRequest): PageRefusal | null {
    const authorities = readAuthorities(request);
    return this.foreignHost(request, authorities) ?? this.foreignPage(request, authorities);
  }

  private foreignHost({ url = '/' }: GuardedRequest, authorities: readonly string[]): PageRefusal | null {
    if (this.options.probes?.has(url)) return null;
    const host = authorities.map(withoutPort).find((name) => !this.isKnown(name));
    if (host === undefined) return null;
    const known = [...this.names, ...(this.isLocal ? [] : ['addresses', 'names without a dot'])];
    return {
      code: 'HOST_NOT_ALLOWED',
      message: `Host "${host}" is not allowed; allowed are ${known.join(', ')}${this.advice((option) => `. Add other names to ${option}`)}`,
    };
  }

  private isKnown(name: string): boolean {
    if (this.names.has(name)) return true;
    return !this.isLocal && (/^[a-z0-9_-]+$/.test(name) || isIP(name.replace(/^\[|\]$/g, '')) > 0);
  }

  private foreignPage(request: GuardedRequest, authorities: readonly string[]): PageRefusal | null {
    const origins = readValues(request, 'origin').map((origin) => origin.toLowerCase());
    const sites = readValues(request, 'sec-fetch-site');
    const isOwn =
      sites.length > 0
        ? sites.every((site) => OWN_SITES.includes(site))
        : origins.every((origin) => this.isOwnOrigin(origin, authorities));
    const isAllowed = origins.length > 0 && origins.every((origin) => this.origins.has(origin));
    if (isOwn || isAllowed || this.isLink(request)) return null;
    const sent = [...sites.map((site) => `Sec-Fetch-Site: ${site}`), ...origins.map((o) => `Origin: ${o}`)];
    return {
      code: 'ORIGIN_NOT_ALLOWED',
      message: `A page of another origin sent this request (${sent.join(', ')})${this.advice((option) => `. Add its origin to ${option} if it may use this server`)}`,
    };
  }

  private advice(say: (option: string) => string): string {
    const { addedBy } = this.options;
    return addedBy === null ? '' : say(addedBy);
  }

  /** Whether a page was loaded from this server: under the name that its request gives this host, or one that a proxy with TLS has taken out. */
  private isOwnOrigin(origin: string, authorities: readonly string[]): boolean {
    const authority = parseAuthority(origin);
    return authorities.includes(authority) || this.addedNames.has(withoutPort(authority));
  }

  /** Whether the person followed a link to a page, which opens it and does nothing else. */
  private isLink(request: GuardedRequest): boolean {
    const { method = 'GET', url = '/' } = request;
    return (
      this.options.isPage?.(url) === true &&
      (method === 'GET' || method === 'HEAD') &&
      readValues(request, 'sec-fetch-mode').includes('navigate') &&
      readValues(request, 'sec-fetch-dest').includes('document')
    );
  }
}

/** The names and ports that a request gives this host, in `Host` and in a target with scheme and host; `['']` where it gives none. */
function readAuthorities(request: GuardedRequest): string[] {
  const { url = '/' } = request;
  const hosts = readValues(request, 'host');
  if (hosts.length === 0) hosts.push('');
  return [...hosts, ...(url.startsWith('/') ? [] : [parseAuthority(url)])].map((host) => host.toLowerCase());
}

/** The name and port of an address; the whole text where it has no scheme. */
function parseAuthority(address: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(address)?.[1] ?? address;
}

function withoutPort(authority: string): string {
  return authority.replace(/:\d+$/, '');
}

/** A name as `Host` has it, without a port: an IPv6 address has brackets there. */
function hostName(name: string): string {
  return isIP(name) === 6 ? `[${name}]` : withoutPort(name);
}

function readValues({ rawHeaders }: GuardedRequest, name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1].toLowerCase() === name);
}
