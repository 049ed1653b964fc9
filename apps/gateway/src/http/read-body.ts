import type { IncomingMessage } from 'node:http';
import { RequestError } from './request-error.js';

/** A request's body: whole, or its beginning where it is larger than the limit; the rest is still to be read. */
export interface ReadBody {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** @throws Error when the client goes away before its body has come, or has gone before this was called */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(new Error('the client went away before its request was whole'));
    };
    if (request.destroyed) {
      leave();
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (isWhole: boolean) => {
      request.off('data', take).off('end', end).off('error', reject).off('close', leave);
      resolve({ bytes: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks), isWhole });
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      request.pause();
      finish(false);
    };
    const end = () => {
      finish(true);
    };
    request.on('data', take).once('end', end).once('error', reject).once('close', leave);
  });
}

/** Reads a body as a whole. @throws RequestError 413 for more bytes than the limit; as `readBody` */
export async function readWholeBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { bytes, isWhole } = await readBody(request, maxBytes);
  if (isWhole) return bytes;
  throw new RequestError(`The body has more than ${maxBytes} bytes`, { status: 413, code: 'body_too_large' });
}
