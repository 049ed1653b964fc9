import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ProblemError } from '../problems/problem.js';

export interface BodyLimits {
  /** Most bytes, before and after decompression. */
  readonly maxBytes: number;
  /** Called with the number of bytes that came; what it throws ends the reading. */
  readonly onBytes: (numBytes: number) => void;
}

/**
 * Reads a body to its end, decompressed. The stream is left open on an error, so that the answer still reaches the client.
 *
 * @throws ProblemError `BODY_TOO_LARGE`, `MALFORMED_BODY`, `UNSUPPORTED_MEDIA_TYPE` for a compression other than gzip
 */
export function readBody(
  payload: Readable,
  encoding: string | undefined,
  limits: BodyLimits,
): Promise<Buffer> {
  const compression = (encoding ?? 'identity').trim().toLowerCase();
  if (compression === 'identity') return collect(payload, payload, limits);
  if (compression === 'gzip') return collect(payload, payload.pipe(createGunzip()), limits);
  const rule = 'must be gzip, or left out';
  return Promise.reject(
    new ProblemError('UNSUPPORTED_MEDIA_TYPE', `Content-Encoding is "${encoding}"; it ${rule}`),
  );
}

function collect(payload: Readable, source: Readable, { maxBytes, onBytes }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let numBytes = 0;
    const fail = (error: unknown): void => {
      payload.unpipe();
      source.removeAllListeners('data');
      source.on('error', () => undefined);
      if (source !== payload) source.destroy();
      payload.pause();
      reject(error as Error);
    };
    source.on('data', (chunk: Buffer) => {
      numBytes += chunk.length;
      try {
        if (numBytes > maxBytes)
          throw new ProblemError(
            'BODY_TOO_LARGE',
            `The body has more than ${maxBytes} bytes; send smaller batches`,
          );
        onBytes(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        fail(error);
      }
    });
    if (source !== payload) {
      let numCompressed = 0;
      payload.on('data', (chunk: Buffer) => {
        numCompressed += chunk.length;
        if (numCompressed > maxBytes)
          fail(new ProblemError('BODY_TOO_LARGE', `The compressed body has more than ${maxBytes} bytes`));
      });
    }
    source.once('error', (error: Error) => {
      fail(new ProblemError('MALFORMED_BODY', `The body can't be read: ${error.message}`));
    });
    payload.once('error', (error: Error) => {
      fail(new ProblemError('MALFORMED_BODY', `The body did not arrive whole: ${error.message}`));
    });
    payload.once('aborted', () => {
      fail(new ProblemError('MALFORMED_BODY', 'The body did not arrive whole'));
    });
    source.once('end', () => {
      resolve(Buffer.concat(chunks, numBytes));
    });
  });
}
