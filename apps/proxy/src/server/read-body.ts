import type { IncomingMessage } from 'node:http';

/** A request's body: whole, or its beginning where it is larger than the limit; the rest is still to be read. */
export interface ReadBody {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** @throws Error when the client goes away before its body has come */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  const reader = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  for await (const chunk of reader) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { bytes: Buffer.concat(chunks), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}
