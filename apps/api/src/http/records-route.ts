import type { FastifyRequest } from 'fastify';
import { RECORD_MEDIA_TYPES } from '@retrace/recording';

/** Path that exporters append to the address of OTLP/HTTP. */
export const TRACES_URL = '/v1/traces';

/** Media types in which spans may come; the answer has the same. */
export const OTLP_MEDIA_TYPES = ['application/json', 'application/x-protobuf'] as const;

export type OtlpMediaType = (typeof OTLP_MEDIA_TYPES)[number];

/** Media types of the routes that take records or spans, by path as the server knows it. Their bodies have bounds of their own. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  '/api/runs/:runId/records': RECORD_MEDIA_TYPES,
  [TRACES_URL]: OTLP_MEDIA_TYPES,
};

/** Media types of all these routes, except JSON, which other routes take, too. */
export const OWN_MEDIA_TYPES: readonly string[] = [...new Set(Object.values(ROUTES).flat())].filter(
  (type) => type !== 'application/json',
);

export function takesRecords(request: FastifyRequest): boolean {
  return request.method === 'POST' && findTypes(request) !== undefined;
}

/** The media type of a request's body; null when the route does not take it. */
export function recordMediaType(request: FastifyRequest): string | null {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  return findTypes(request)?.find((known) => known === mediaType) ?? null;
}

function findTypes({ routeOptions: { url = '' } }: FastifyRequest): readonly string[] | undefined {
  return Object.hasOwn(ROUTES, url) ? ROUTES[url] : undefined;
}
