import { Injectable } from '@nestjs/common';
import { readPlay } from '@retrace/store';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { ProblemError } from '../problems/problem.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { PlayDetail, PlayListItem } from './plays.dto.js';

/** Ids of plays begin with their time. */
const LIST_PLAYS = `
  SELECT substring(arrayFirst(tag -> startsWith(tag, 'play:'), r.started_tags), 6) AS play_id,
    min(r.started_at) AS started_at,
    arraySort(groupArray(tuple(r.started_at, r.run_id, JSONExtractString(r.recipe, 'play', 'policy'), r.environment))) AS played,
    arrayDistinct(arrayMap(run -> run.3, played)) AS policies,
    arrayDistinct(arrayMap(run -> run.4, played)) AS environments
  FROM runs AS r
  WHERE has(r.started_tags, 'play')
  GROUP BY play_id
  HAVING play_id < {before:String}
  ORDER BY play_id DESC
  LIMIT {limit:UInt32}`;

/** After every id of a play. */
const LAST = 'g';

@Injectable()
export class PlaysService {
  constructor(private readonly store: StoreService) {}

  async list({ limit, cursor }: PageQuery): Promise<Page<PlayListItem>> {
    const [before] = cursor ? decodeCursor(cursor, ['string']) : [LAST];
    const rows = await this.store.queryRows<PlayListItem>(LIST_PLAYS, { before, limit: limit + 1 });
    return makePage(rows, limit, {
      toItem: ({ playId, startedAt, policies, environments }) => ({
        ...{ playId, policies, environments },
        startedAt: isoTime(startedAt),
      }),
      keyOf: ({ playId }) => [playId],
    });
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get(playId: string): Promise<PlayDetail> {
    const report = await readPlay(this.store.reader, playId);
    if (report === null) throw new ProblemError('NOT_FOUND', `Play ${playId} not found`);
    return report;
  }
}
