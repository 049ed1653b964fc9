import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('broker.mjs', import.meta.url));

/**
 * Starts a broker of its own for whoever calls (see `broker.mjs`); it ends with this process at the latest.
 *
 * @param {{ proxiedPort?: number }} [options] the port at which clients of listener `proxied` are told to connect
 * @returns {Promise<{ addresses: Record<string, string>, command: (name: 'kill' | 'start' | 'stop') => Promise<void>,
 *   close: () => Promise<void> } | { unavailable: string }>}
 */
export async function startBroker({ proxiedPort } = {}) {
  const args = proxiedPort === undefined ? [] : ['--proxied-port', String(proxiedPort)];
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done)
      throw new Error('the Kafka broker for tests has ended; RETRACE_KEEP_BROKER_LOG=1 shows its log');
    return JSON.parse(value);
  };
  const first = await next();
  if ('unavailable' in first) return first;
  return {
    addresses: first,
    command: async (name) => {
      child.stdin.write(`${name}\n`);
      await next();
    },
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
