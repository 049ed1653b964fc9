import type { RawHeaders } from './upstream.js';

/** Headers of one connection (RFC 9110, 7.6.1), and those whose value the next connection has its own of. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
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
]);
const RETRACE_PREFIX = 'x-retrace-';

/** Headers to pass on, in their order and spelling, without those named. */
export function passedHeaders(raw: RawHeaders, without: readonly string[] = []): string[] {
  const names = raw.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : ''));
  const options = names.flatMap((name, i) => (name === 'connection' ? connectionOptions(raw[i + 1]) : []));
  const passed: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = names[i];
    const isDropped = HOP_BY_HOP.has(name) || without.includes(name) || options.includes(name);
    if (!isDropped && !name.startsWith(RETRACE_PREFIX)) passed.push(raw[i], raw[i + 1]);
  }
  return passed;
}

/** Names that a `Connection` lists: headers that are for this connection only. */
function connectionOptions(value: string): string[] {
  return value.split(',').map((name) => name.trim().toLowerCase());
}
