import { Injectable } from '@nestjs/common';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { RunWarning } from './warnings.dto.js';

/** With those of processes that belong to no run, such as a sink, from the time of this run. */
const LIST_WARNINGS = `
  SELECT source, severity, step, message, num_times, raised_at, rule, advice, episode_ids
  FROM warnings
  WHERE run_id = {runId:String}
    OR (run_id = ''
      AND raised_at >= (SELECT min(started_at) FROM runs WHERE run_id = {runId:String})
      AND raised_at <= (
        SELECT ifNull(max(ended_at), toDateTime64('2200-01-01', 6, 'UTC')) FROM runs WHERE run_id = {runId:String}))
  ORDER BY raised_at DESC, message DESC
  LIMIT {limit:UInt32} OFFSET {skipped:UInt64}`;

@Injectable()
export class WarningsService {
  constructor(private readonly store: StoreService) {}

  /** Newest first. A warning that is raised between two pages moves those after it to the next page. */
  async list(runId: string, { limit, cursor }: PageQuery): Promise<Page<RunWarning>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const rows = await this.store.queryRows<RunWarning>(LIST_WARNINGS, { runId, skipped, limit: limit + 1 });
    return makePage(rows, limit, {
      toItem: (row) => ({ ...row, raisedAt: isoTime(row.raisedAt) }),
      keyOf: () => [skipped + limit],
    });
  }
}
