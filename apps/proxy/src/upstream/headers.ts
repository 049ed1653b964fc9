import type { RawHeaders } from './upstream.js';

/** Headers of one connection (RFC 9110, 7.6.1), and those whose value the next connection has its own of. */
const HOP_BY_HOP: readonly string[] = [
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const RETRACE_PREFIX = 'x-retrace-';

/** Headers to pass on, in their order and spelling, without those named. */
export function passedHeaders(raw: RawHeaders, without: readonly string[] = []): string[] {
  const named = new Set([...HOP_BY_HOP, ...without, ...connectionOptions(raw)]);
  return pairsOf(raw)
    .filter(([name]) => !named.has(name.toLowerCase()) && !name.toLowerCase().startsWith(RETRACE_PREFIX))
    .flat();
}

/** Names that `Connection` lists: headers that are for this connection only. */
function connectionOptions(raw: RawHeaders): string[] {
  return pairsOf(raw)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));
}

function pairsOf(raw: RawHeaders): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i], raw[2 * i + 1]]);
}
