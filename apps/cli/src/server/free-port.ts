import { createServer } from 'node:net';
import { CliError } from '../cli-error.js';

/**
 * Checks that this process could listen on a port. Port 0 always passes.
 *
 * @throws CliError `PORT_TAKEN`
 */
export async function assertPortFree(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why =
      code === 'EADDRINUSE'
        ? 'another program uses it'
        : code === 'EACCES'
          ? 'this user is not allowed to use it'
          : `it cannot be used (${code ?? 'unknown error'})`;
    throw new CliError('PORT_TAKEN', `port ${port} on ${host}: ${why}; choose another with --port`, {
      cause,
    });
  }
  await new Promise((resolve) => server.close(resolve));
}
