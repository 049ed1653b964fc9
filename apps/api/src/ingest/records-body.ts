import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.js';
import { Intake, type Reservation } from './intake.js';
import { readBody } from './read-body.js';
import { OWN_MEDIA_TYPES, recordMediaType, takesRecords } from '../http/records-route.js';

/** Most bytes of a body of records, compressed or not. */
export const MAX_RECORDS_BYTES = 16 * 1024 * 1024;

/** Internal media type of JSON records, which the server's own parser of JSON must not touch. */
const JSON_RECORDS = 'application/vnd.retrace.records+json';

/** A body of records or spans as it came, and its share of the memory for them. */
export class RecordsBody {
  isHandled = false;

  constructor(
    readonly bytes: Buffer,
    readonly mediaType: string,
    readonly reservation: Reservation,
  ) {}
}

interface Arriving {
  readonly mediaType: string;
  readonly reservation: Reservation;
  body: RecordsBody | null;
}

/** Reads bodies of records and spans: bounded one by one and together, decompressed, not parsed. */
export function registerRecordsBody(server: FastifyInstance, intake = new Intake()): void {
  const arriving = new WeakMap<FastifyRequest, Arriving>();
  server.addHook('onRequest', (request, reply, next) => {
    const mediaType = takesRecords(request) ? recordMediaType(request) : null;
    if (mediaType === null) return next();
    const announcedBytes = Number(request.headers['content-length'] ?? 0);
    if (announcedBytes > MAX_RECORDS_BYTES) {
      const detail = `The body has ${announcedBytes} bytes; at most ${MAX_RECORDS_BYTES} are allowed. Send smaller batches`;
      return next(new ProblemError('BODY_TOO_LARGE', detail));
    }
    try {
      const entry: Arriving = { mediaType, reservation: intake.admit(announcedBytes), body: null };
      arriving.set(request, entry);
      // Who handles the body gives its share back; a request that never gets so far does it when it closes.
      reply.raw.once('close', () => {
        if (entry.body?.isHandled !== true) entry.reservation.release();
      });
    } catch (error) {
      return next(error as Error);
    }
    if (mediaType === 'application/json') request.headers['content-type'] = JSON_RECORDS;
    return next();
  });
  const types = [...OWN_MEDIA_TYPES, JSON_RECORDS];
  server.addContentTypeParser(types, async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const entry = arriving.get(request);
    if (entry === undefined)
      throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', 'This route takes no bodies of this type');
    const { mediaType, reservation } = entry;
    const bytes = await readBody(payload, request.headers['content-encoding'], {
      maxBytes: MAX_RECORDS_BYTES,
      onBytes: (numBytes) => {
        reservation.grow(numBytes);
      },
    });
    entry.body = new RecordsBody(bytes, mediaType, reservation);
    return entry.body;
  });
}
