import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PageGuard, readAllowedHosts } from './page-guard.js';

/** Requests that the servers of every language must refuse, or answer. */
const vectors = JSON.parse(
  readFileSync(new URL('../../../clients/vectors/page-guard.json', import.meta.url), 'utf8'),
) as {
  name: string;
  server: { host: string; allowedHosts: string[] };
  request: { method: string; target: string; headers: [string, string][] };
  refusal: string | null;
}[];

const PROBES = new Set(['/health']);
const guardOf = (server: { host: string; allowedHosts: readonly string[] }) =>
  new PageGuard({ ...server, addedBy: '--allowed-hosts', probes: PROBES });

describe('PageGuard', () => {
  it.each(vectors)('decides as the servers of every language: $name', ({ server, request, refusal }) => {
    const { method, target: url, headers } = request;
    const refused = guardOf(server).refusalOf({ method, url, rawHeaders: headers.flat() });
    expect(refused?.code ?? null).toBe(refusal);
  });

  it('says which name or origin it refuses, and what adds one', () => {
    const guard = guardOf({ host: '0.0.0.0', allowedHosts: ['retrace.example.com'] });
    expect(guard.refusalOf({ url: '/', rawHeaders: ['host', 'evil.example:80'] })?.message).toBe(
      'Host "evil.example" is not allowed; allowed are localhost, 127.0.0.1, [::1], 0.0.0.0, retrace.example.com, addresses, names without a dot. Add other names to --allowed-hosts',
    );
    const headers = ['host', 'localhost', 'origin', 'http://evil.example', 'sec-fetch-site', 'cross-site'];
    expect(guard.refusalOf({ url: '/', rawHeaders: headers })?.message).toBe(
      'A page of another origin sent this request (Sec-Fetch-Site: cross-site, Origin: http://evil.example). Add its origin to --allowed-hosts if it may use this server',
    );
  });

  it('reads names and origins with commas between them, and takes no port of a name', () => {
    const allowedHosts = readAllowedHosts(' a.example:8788, fd00::5 ,,http://localhost:3000,');
    expect(allowedHosts).toEqual(['a.example:8788', 'fd00::5', 'http://localhost:3000']);
    const guard = guardOf({ host: '127.0.0.1', allowedHosts });
    for (const host of ['a.example', 'a.example:1', '[fd00::5]:8788'])
      expect(guard.refusalOf({ url: '/', rawHeaders: ['host', host] })).toBeNull();
  });

  it('lets links of other sites open pages, and nothing but pages', () => {
    const guard = new PageGuard({
      host: '127.0.0.1',
      allowedHosts: [],
      addedBy: '--allowed-hosts',
      isPage: (target) => !target.startsWith('/api/'),
    });
    const codeOf = (url: string, method: string, destination: string, mode = 'navigate') =>
      guard.refusalOf({
        ...{ method, url },
        rawHeaders: [
          ...['host', 'localhost', 'sec-fetch-site', 'cross-site'],
          ...['sec-fetch-mode', mode, 'sec-fetch-dest', destination],
        ],
      })?.code;
    expect(codeOf('/runs', 'GET', 'document')).toBeUndefined();
    expect(codeOf('/api/runs', 'GET', 'document')).toBe('ORIGIN_NOT_ALLOWED');
    expect(codeOf('/runs', 'POST', 'document')).toBe('ORIGIN_NOT_ALLOWED');
    expect(codeOf('/runs', 'GET', 'iframe')).toBe('ORIGIN_NOT_ALLOWED');
    expect(codeOf('/runs', 'GET', 'empty', 'no-cors')).toBe('ORIGIN_NOT_ALLOWED');
  });
});
