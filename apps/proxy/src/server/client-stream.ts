import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Writes to a client, as fast as it reads. @throws Error when it goes away */
export async function writeTo(
  client: ServerResponse,
  bytes: Buffer | string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  if (bytes.length === 0 || client.write(bytes)) return;
  await once(client, 'drain', { signal });
}

/** A signal that is aborted when the client goes away before it has its answer. */
export function abortOnClose(client: ServerResponse): AbortSignal {
  const controller = new AbortController();
  client.once('close', () => {
    if (!client.writableFinished) controller.abort(new Error('the client went away'));
  });
  return controller.signal;
}
