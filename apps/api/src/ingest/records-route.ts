import type { FastifyRequest } from 'fastify';
import { RECORD_MEDIA_TYPES, type RecordMediaType } from '@retrace/recording';

/** Path of the route that takes records, as the server knows it. Its bodies have types and bounds of their own. */
const RECORDS_URL = '/api/runs/:runId/records';

export function takesRecords(request: FastifyRequest): boolean {
  return request.method === 'POST' && request.routeOptions.url === RECORDS_URL;
}

/** The media type of a request's body; null when the route of records does not take it. */
export function recordMediaType(request: FastifyRequest): RecordMediaType | null {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  return RECORD_MEDIA_TYPES.find((known) => known === mediaType) ?? null;
}
