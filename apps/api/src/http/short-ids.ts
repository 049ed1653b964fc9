import { Injectable, Module } from '@nestjs/common';
import { describeAmbiguousId, findByPartOfId, isUuid, MAX_ID_CANDIDATES } from '@retrace/trajectory';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../problems/problem.js';
import { StoreService } from '../store/store.service.js';

/** A part of an id in an address, at least as long as `findByPartOfId` wants; `latest` is the newest run. */
export const ID_OR_PART = /^(latest|[0-9a-f-]{4,36})$/;

const IS_PART = '(startsWith(id, {part:String}) OR endsWith(id, {part:String}))';

interface Named {
  readonly id: string;
  readonly name: string;
  /** How many have that part in their id. */
  readonly total: number;
}

interface Kind {
  readonly noun: string;
  /** Finds ids that begin or end with `part`, with what a person knows them by; `runId` is the run that they belong to. */
  readonly query: string;
}

const RUN: Kind = {
  noun: 'Run',
  query: `SELECT run_id AS id, name FROM runs WHERE ${IS_PART}`,
};

const KIND_OF: Readonly<Record<string, Kind>> = {
  runId: RUN,
  otherRunId: RUN,
  episodeId: {
    noun: 'Episode',
    query: `SELECT episode_id AS id, external_id AS name FROM episodes WHERE run_id = {runId:String} AND ${IS_PART}`,
  },
  playId: {
    noun: 'Play',
    query: `SELECT DISTINCT substring(arrayFirst(tag -> startsWith(tag, 'play:'), started_tags), 6) AS id, '' AS name
      FROM runs WHERE has(started_tags, 'play') AND ${IS_PART}`,
  },
};

/** The run whose start is the last in the log, as the command line has it; a record that is there twice counts where it was first. */
const NEWEST_RUN = `SELECT id, '' AS name, 1 AS total FROM (
    SELECT run_id AS id, log_id, log_offset FROM events WHERE episode_id = '' AND kind = 'RunStarted'
    ORDER BY log_id, log_offset LIMIT 1 BY run_id
  ) ORDER BY log_id DESC, log_offset DESC LIMIT 1`;

/** Completes the parts of ids in addresses, by the rule of the command line. */
@Injectable()
export class ShortIds {
  constructor(private readonly store: StoreService) {}

  /**
   * Replaces each part of an id among the parameters of a path by the whole id. Whole ids and texts that can't be a part stay as they are.
   *
   * @throws ProblemError `NOT_FOUND`; `ID_AMBIGUOUS`, which lists what is meant
   */
  async complete(params: Record<string, string>): Promise<void> {
    for (const [field, kind] of Object.entries(KIND_OF)) {
      const wanted = params[field];
      if (wanted !== undefined && ID_OR_PART.test(wanted) && !isUuid(wanted))
        params[field] = await this.find(wanted, kind, params.runId ?? '');
    }
  }

  private async find(wanted: string, kind: Kind, runId: string): Promise<string> {
    const named = wanted === 'latest' && kind === RUN;
    const items = await this.store.queryRows<Named>(named ? NEWEST_RUN : selectNewest(kind), {
      part: wanted,
      runId,
    });
    const found = named
      ? items.map((item) => ({ kind: 'found', item }) as const)[0]
      : findByPartOfId(items, wanted, ({ id }) => id);
    if (found?.kind === 'found') return found.item.id;
    const subject = `${kind.noun} "${wanted}"`;
    if (found?.kind !== 'ambiguous') throw new ProblemError('NOT_FOUND', `${subject} not found`);
    const candidates = found.items.map(({ id, name }) => (name === '' ? id : `${id} (${name})`)).reverse();
    throw new ProblemError('ID_AMBIGUOUS', describeAmbiguousId(subject, candidates, items[0].total));
  }
}

/** The newest that a message names, at most as many as it shows: all episodes of a run begin alike. */
function selectNewest({ query }: Kind): string {
  return `SELECT id, name, count() OVER () AS total FROM (${query}) ORDER BY id DESC LIMIT ${MAX_ID_CANDIDATES}`;
}

@Module({ providers: [ShortIds], exports: [ShortIds] })
export class ShortIdsModule {}

/** Completes parts of ids before a request is validated, once its caller is known to be allowed. */
export function registerShortIds(server: FastifyInstance, ids: ShortIds): void {
  server.addHook('preHandler', async ({ params }) => {
    await ids.complete(params as Record<string, string>);
  });
}
