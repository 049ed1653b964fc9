import { createServer } from 'node:net';

const FIRST = 10_000;
const END = 30_000;

/**
 * Finds a port that nobody listens on, below the range that the system assigns for port 0 (on Linux from 32768), so that no other
 * process is given it before the caller listens on it.
 *
 * @param {number} [preferred] taken where it is free, such as the port that others know from before
 * @returns {Promise<number>}
 */
export async function findFreePort(preferred) {
  for (let port = preferred ?? anyPort(); ; port = anyPort()) {
    const server = createServer();
    const isFree = await new Promise((resolve, reject) => {
      server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

function anyPort() {
  return FIRST + Math.floor(Math.random() * (END - FIRST));
}
