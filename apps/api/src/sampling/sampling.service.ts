import { Injectable } from '@nestjs/common';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { SamplingBlock } from './sampling.dto.js';

const LIST_BLOCKS = `
  SELECT side, reason, num_inserted, num_sampled, blocked_at
  FROM sampling_blocks
  WHERE run_id = {runId:String}
  ORDER BY blocked_at DESC, reason DESC
  LIMIT {limit:UInt32} OFFSET {skipped:UInt64}`;

@Injectable()
export class SamplingService {
  constructor(private readonly store: StoreService) {}

  /** Newest first. A block that comes between two pages moves those after it to the next page. */
  async list(runId: string, { limit, cursor }: PageQuery): Promise<Page<SamplingBlock>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const rows = await this.store.queryRows<SamplingBlock>(LIST_BLOCKS, { runId, skipped, limit: limit + 1 });
    return makePage(rows, limit, {
      toItem: (row) => ({ ...row, blockedAt: isoTime(row.blockedAt) }),
      keyOf: () => [skipped + limit],
    });
  }
}
