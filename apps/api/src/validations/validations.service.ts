import { Injectable } from '@nestjs/common';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page } from '../paging/page.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { ValidationFigures, ValidationsQuery } from './validations.dto.js';

interface ValidationsRow extends Omit<ValidationFigures, 'passAtK'> {
  readonly passAtK: Readonly<Record<string, number>>;
}

const LIST_VALIDATIONS = `
  SELECT policy_version, update_number, split, decoding, family, num_tasks, num_episodes, num_successes, num_unknown, num_failed,
    success, success_low, success_high, pass_at_k, mean_return, seconds, validated_at
  FROM validations
  WHERE run_id = {runId:String} AND ({split:String} = '' OR split = {split:String}) AND ({families:Bool} OR family IS NULL)
  ORDER BY policy_version DESC, split, decoding, family IS NOT NULL, family
  LIMIT {limit:UInt32} OFFSET {skipped:UInt64}`;

@Injectable()
export class ValidationsService {
  constructor(private readonly store: StoreService) {}

  /** Newest version first. A validation that comes between two pages moves those after it to the next page. */
  async list(
    runId: string,
    { limit, cursor, split, families }: ValidationsQuery,
  ): Promise<Page<ValidationFigures>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const rows = await this.store.queryRows<ValidationsRow>(LIST_VALIDATIONS, {
      ...{ runId, skipped, split: split ?? '', families },
      limit: limit + 1,
    });
    return makePage(rows, limit, {
      toItem: ({ passAtK, ...row }) => ({
        ...row,
        passAtK: Object.entries(passAtK).map(([k, pass]) => ({ k: Number(k), pass })),
        validatedAt: isoTime(row.validatedAt),
      }),
      keyOf: () => [skipped + limit],
    });
  }
}
