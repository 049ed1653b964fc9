import type { FastifyInstance, FastifyRequest } from 'fastify';
import { takesRecords } from './records-route.js';
import { ProblemError } from '../problems/problem.js';

const MAX_DEPTH = 8;
const MAX_FIELDS = 256;

interface BodyBounds {
  readonly maxFields: number;
  readonly maxBytes: number;
}

/** Of an update of a trainer outside, which names each episode and optimizer step; its schema bounds these. */
const UPDATE_BOUNDS: BodyBounds = { maxFields: 100_000, maxBytes: 4 * 1024 ** 2 };
/** Of a notebook with all of its cells and their charts, each of its characters escaped. */
const NOTEBOOK_BOUNDS: BodyBounds = { maxFields: 2_500, maxBytes: 2 * 1024 ** 2 };

/** Bodies that may be larger than those of other routes. */
const LARGE_BODIES: ReadonlyMap<string, BodyBounds> = new Map([
  ['POST /api/runs/:runId/updates', UPDATE_BOUNDS],
  ['POST /api/notebooks', NOTEBOOK_BOUNDS],
  ['PUT /api/notebooks/:notebookId', NOTEBOOK_BOUNDS],
]);
const MAX_NAME_LENGTH = 128;

/**
 * Refuses bodies of a shape that no request has, before they are validated: validation takes time for each unknown field, and a
 * call for each level of depth. Bodies of records have bounds of their own, and are not parsed yet.
 */
export function registerBodyBounds(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    const large = [route.method].flat().map((method) => LARGE_BODIES.get(`${method} ${route.url}`))[0];
    if (large) route.bodyLimit = large.maxBytes;
  });
  server.addHook('preValidation', (request, _reply, next) => {
    const fault = takesRecords(request) ? null : findFault(request.body, readMaxFields(request));
    next(fault === null ? undefined : new ProblemError('INVALID_REQUEST', fault));
  });
}

function readMaxFields({ method, routeOptions: { url } }: FastifyRequest): number {
  return LARGE_BODIES.get(`${method} ${url}`)?.maxFields ?? MAX_FIELDS;
}

/** Goes over the values with a list of its own instead of the call stack, and ends at the first fault. */
function findFault(body: unknown, maxFields: number): string | null {
  const waiting: { value: unknown; depth: number }[] = [{ value: body, depth: 0 }];
  let numFields = 0;
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const { value, depth } = entry;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === MAX_DEPTH) return `The body is nested more than ${MAX_DEPTH} levels deep`;
    for (const name in value) {
      if (++numFields > maxFields) return `The body has more than ${maxFields} fields and elements`;
      if (name.length > MAX_NAME_LENGTH)
        return `The field name "${name.slice(0, 20)}…" has ${name.length} characters; at most ${MAX_NAME_LENGTH} are allowed`;
      waiting.push({ value: (value as Record<string, unknown>)[name], depth: depth + 1 });
    }
  }
  return null;
}
