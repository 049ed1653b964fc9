import { Injectable } from '@nestjs/common';
import { decodeCursor } from '../paging/cursor.js';
import { ProblemError } from '../problems/problem.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { isoTime, isoTimeOrNull } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { UpdateParams } from './update-inputs.dto.js';
import type { Update } from './updates.dto.js';

interface UpdateRow extends Omit<Update, 'metrics'> {
  readonly metrics: Readonly<Record<string, number | null>>;
}

const UPDATE_COLUMNS = `update_number, stage, plan_id, epoch, policy_version_in, policy_version_out, num_episodes,
  planned_at, applied_at, metrics, weights_sha256, engine`;

const GET_UPDATE = `
  SELECT ${UPDATE_COLUMNS}
  FROM updates
  WHERE run_id = {runId:String} AND plan_id IN (
    SELECT plan_id
    FROM current_trainer_events
    WHERE run_id = {runId:String} AND kind = 'BatchPlanned' AND update_number = {updateNumber:UInt64}
  )`;

// The plans of the page are selected by number first: opening every plan's manifest would get slower as the run grows.
const LIST_UPDATES = `
  SELECT ${UPDATE_COLUMNS}
  FROM updates
  WHERE run_id = {runId:String} AND plan_id IN (
    SELECT plan_id
    FROM current_trainer_events
    WHERE run_id = {runId:String} AND kind = 'BatchPlanned' AND update_number < {before:UInt64}
    ORDER BY update_number DESC
    LIMIT {limit:UInt32}
  )
  ORDER BY update_number DESC`;

@Injectable()
export class UpdatesService {
  constructor(private readonly store: StoreService) {}

  /** Newest first, including an update that is planned but not applied yet. */
  async list(runId: string, { limit, cursor }: PageQuery): Promise<Page<Update>> {
    const [before] = cursor ? decodeCursor(cursor, ['number']) : [Number.MAX_SAFE_INTEGER];
    const rows = await this.store.queryRows<UpdateRow>(LIST_UPDATES, { runId, before, limit: limit + 1 });
    return makePage(rows, limit, { toItem: toUpdate, keyOf: (row) => [row.updateNumber] });
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get({ runId, updateNumber }: UpdateParams): Promise<Update> {
    const [row] = await this.store.queryRows<UpdateRow | undefined>(GET_UPDATE, { runId, updateNumber });
    if (!row) throw new ProblemError('NOT_FOUND', `Update ${updateNumber} of run ${runId} not found`);
    return toUpdate(row);
  }
}

function toUpdate(row: UpdateRow): Update {
  return {
    ...row,
    plannedAt: isoTime(row.plannedAt),
    appliedAt: isoTimeOrNull(row.appliedAt),
    metrics: presentValues(row.metrics),
  };
}

/** Leaves out unavailable metrics (NaN). */
function presentValues(metrics: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).filter((entry): entry is [string, number] => entry[1] !== null),
  );
}
