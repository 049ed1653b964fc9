import { createServer } from 'node:net';
import { CliError } from '../cli-error.js';

/** @throws CliError `PORT_TAKEN` when nothing can listen there. Port 0 always can. */
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
        ? 'another program listens there'
        : code === 'EACCES'
          ? 'this user may not listen there'
          : `it can't be listened on (${code ?? 'unknown error'})`;
    throw new CliError('PORT_TAKEN', `port ${String(port)} on ${host}: ${why}; choose another with --port`, {
      cause,
    });
  }
  await new Promise((resolve) => server.close(resolve));
}
