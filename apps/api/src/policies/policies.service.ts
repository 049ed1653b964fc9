import { Injectable } from '@nestjs/common';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { Policy } from './policies.dto.js';

const LIST_POLICIES = `
  SELECT policy_version, parent_version, update_number, weights_sha256, weights_size_bytes, model_hash,
    location, published_at
  FROM policies
  WHERE run_id = {runId:String} AND policy_version < {before:Int64}
  ORDER BY policy_version DESC
  LIMIT {limit:UInt32}`;

@Injectable()
export class PoliciesService {
  constructor(private readonly store: StoreService) {}

  /** Newest version first. */
  async list(runId: string, { limit, cursor }: PageQuery): Promise<Page<Policy>> {
    const [before] = cursor ? decodeCursor(cursor, ['number']) : [Number.MAX_SAFE_INTEGER];
    const rows = await this.store.queryRows<Policy>(LIST_POLICIES, { runId, before, limit: limit + 1 });
    return makePage(rows, limit, { toItem: toPolicy, keyOf: (row) => [row.policyVersion] });
  }
}

function toPolicy(row: Policy): Policy {
  return { ...row, publishedAt: isoTime(row.publishedAt) };
}
