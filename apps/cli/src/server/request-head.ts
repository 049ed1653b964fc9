import type { Socket } from 'node:net';
import type { GuardedRequest } from '@retrace/page-guard';

const END = '\r\n\r\n';

/** The first bytes of a connection: the head of its first request and what came with it. */
export interface RequestHead {
  readonly bytes: Buffer;
  readonly request: GuardedRequest;
}

/**
 * Reads the head of the first request of a connection, which is paused then. Null where it is longer than the limit, or does not come in time, or the client
 * goes away.
 */
export function readRequestHead(
  client: Socket,
  { maxBytes, timeoutMs }: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<RequestHead | null> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const finish = (head: RequestHead | null) => {
      clearTimeout(timer);
      client.off('data', take).off('end', leave).off('close', leave).pause();
      resolve(head);
    };
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf(END);
      if (end >= 0 && end <= maxBytes)
        finish({ bytes, request: parseHead(bytes.toString('latin1', 0, end)) });
      else if (end >= 0 || bytes.length > maxBytes) finish(null);
    };
    const leave = () => {
      finish(null);
    };
    const timer = setTimeout(leave, timeoutMs);
    client.on('data', take).once('end', leave).once('close', leave);
  });
}

function parseHead(head: string): GuardedRequest {
  const [requestLine, ...lines] = head.split('\r\n');
  const [method, url] = requestLine.split(' ');
  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { method, url, rawHeaders };
}
