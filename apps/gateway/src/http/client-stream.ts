import type { ServerResponse } from 'node:http';

const GONE = 'the client went away';

/** Writes to a client. @returns what to wait for where it reads more slowly than that; it rejects when the client goes away */
export function writeTo(client: ServerResponse, bytes: Buffer | string): Promise<void> | undefined {
  if (client.destroyed) return Promise.reject(new Error(GONE));
  if (bytes.length === 0 || client.write(bytes)) return undefined;
  return new Promise((resolve, reject) => {
    const settle = () => {
      client.off('drain', settle).off('close', settle);
      if (client.destroyed) reject(new Error(GONE));
      else resolve();
    };
    client.once('drain', settle).once('close', settle);
  });
}

/** Calls back when the client goes away before it has its answer; at once where it has gone already. */
export function onClientGone(client: ServerResponse, listener: (reason: Error) => void): void {
  const tell = () => {
    if (!client.writableFinished) listener(new Error(GONE));
  };
  if (client.destroyed) tell();
  else client.once('close', tell);
}
