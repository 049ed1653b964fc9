import type { FastifyReply } from 'fastify';

/** Aborts when the connection of a request closes: before the answer where the client left, else after it. */
export function brokenOff(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once('close', () => {
    closed.abort();
  });
  return closed.signal;
}
