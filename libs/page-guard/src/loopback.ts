import { isIPv4 } from 'node:net';

/** Whether only this machine can reach an address to listen on. A name counts as reachable from elsewhere, as it may resolve to anything. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
