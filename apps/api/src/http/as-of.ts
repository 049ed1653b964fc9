import { AsyncLocalStorage } from 'node:async_hooks';
import { readMoment, settingsAsOf, StoreError, type StatementOptions } from '@retrace/store';
import type { Json } from '@retrace/trajectory';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.js';

/** The moment that a request asks about, in microseconds since the Unix epoch; without one it asks about now. */
const asked = new AsyncLocalStorage<number>();

type MomentReader = Parameters<typeof readMoment>[0];

/** Settings of the engine with which the statements of this request read. */
export function requestSettings(): NonNullable<StatementOptions['settings']> {
  const timeUs = asked.getStore();
  return timeUs === undefined ? {} : settingsAsOf(timeUs);
}

/** Now, or the moment that this request asks about. */
export function requestTimeMs(): number {
  const timeUs = asked.getStore();
  return timeUs === undefined ? Date.now() : timeUs / 1000;
}

/**
 * Lets the rest of a request with `?asOf=` read what was known at that moment, where its route is declared so (`AccessAsOf`). Comes before what else
 * reads the store for a request, and once its caller is known to be allowed.
 */
export function registerAsOf(server: FastifyInstance, store: () => MomentReader): void {
  server.addHook('preHandler', (request, _reply, next) => {
    const { asOf, ...query } = request.query as { readonly asOf?: unknown };
    if (asOf === undefined) {
      next();
      return;
    }
    request.query = query;
    findMoment(asOf, request, store).then((timeUs) => asked.run(timeUs, next), next);
  });
}

async function findMoment(
  asOf: unknown,
  { routeOptions }: FastifyRequest,
  store: () => MomentReader,
): Promise<number> {
  if (routeOptions.config.hasAsOf !== true) throw invalid(asOf, 'is not for this address: it tells of now');
  if (typeof asOf !== 'string') throw invalid(asOf, 'must be given once');
  try {
    return await readMoment(store(), asOf);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === 'MOMENT_INVALID' || error.code === 'CLUSTER_UNSUPPORTED')
      throw invalid(asOf, error.message);
    if (error.code === 'MOMENT_UNKNOWN') throw new ProblemError('NOT_FOUND', `asOf: ${error.message}`);
    throw error;
  }
}

function invalid(value: unknown, rule: string): ProblemError {
  return new ProblemError('INVALID_REQUEST', `asOf ${rule}`, [{ field: 'asOf', value: value as Json, rule }]);
}
