import { readMoment, StoreError } from '@retrace/store';
import { isUuid } from '@retrace/trajectory';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { ProblemError } from '../problems/problem.js';
import { shown } from '../problems/violations.js';
import { askedMoment } from '../store/asked-moment.js';
import { isoTimeOfUs } from '../store/store-time.js';
import { ID_OR_PART, type ShortIds } from './short-ids.js';

interface AsOfOptions {
  /** The store as it is now. */
  readonly store: () => Parameters<typeof readMoment>[0];
  readonly ids: ShortIds;
}

/** Says which time an answer is as of, where an event or a commit was named. */
const TIME_HEADER = 'retrace-as-of';

/** Times of events and commits, which never change, are remembered: one page asks many times. */
const MAX_REMEMBERED = 1_000;

/**
 * Lets the rest of a request with `?asOf=` read what was known at that moment, where its route is declared so (`AccessAsOf`). Comes before what else
 * reads the store for a request, and once its caller is known to be allowed.
 */
export function registerAsOf(server: FastifyInstance, options: AsOfOptions): void {
  const moments = new Moments(options);
  server.addHook('preHandler', (request, reply, next) => {
    const { asOf, ...query } = request.query as { readonly asOf?: unknown };
    const { access, hasAsOf } = request.routeOptions.config;
    // Pages, whose addresses keep the moment, and what is not found are no routes of the API.
    if (asOf === undefined || access === undefined) {
      next();
      return;
    }
    if (hasAsOf !== true) {
      next(invalid(asOf, 'is not for this address, whose answer is about now'));
      return;
    }
    request.query = query;
    moments.find(asOf).then((timeUs) => {
      void reply.header(TIME_HEADER, isoTimeOfUs(timeUs));
      askedMoment.run(timeUs, next);
    }, next);
  });
}

/** Finds the times that texts name. */
class Moments {
  private readonly remembered = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  constructor(private readonly options: AsOfOptions) {}

  /** @throws ProblemError `INVALID_REQUEST`, `NOT_FOUND`, `ID_AMBIGUOUS`; `STORE_STARTING` */
  async find(asOf: unknown): Promise<number> {
    if (typeof asOf !== 'string') throw invalid(asOf, 'must be given once');
    const known = this.remembered.get(asOf);
    if (known !== undefined) return known;
    try {
      const timeUs = await readMoment(this.options.store(), await this.withWholeId(asOf));
      if (isUuid(asOf.split('@')[0])) this.remembered.set(asOf, timeUs);
      return timeUs;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === 'MOMENT_INVALID' || error.code === 'CLUSTER_UNSUPPORTED')
        throw invalid(asOf, error.message);
      if (error.code === 'MOMENT_UNKNOWN') throw new ProblemError('NOT_FOUND', `asOf: ${error.message}`);
      throw error;
    }
  }

  /** `RUN@N` with the whole id of a run of which it has a part, or that is the newest. */
  private async withWholeId(asOf: string): Promise<string> {
    const [, part, update] = /^([^@]+)(@\d+)$/.exec(asOf) ?? [];
    if (part === undefined || !ID_OR_PART.test(part) || isUuid(part)) return asOf;
    const params = { runId: part };
    await this.options.ids.complete(params);
    return `${params.runId}${update}`;
  }
}

function invalid(value: unknown, rule: string): ProblemError {
  return new ProblemError('INVALID_REQUEST', `asOf ${rule}`, [
    { field: 'asOf', value: typeof value === 'string' ? value : shown(value), rule },
  ]);
}
