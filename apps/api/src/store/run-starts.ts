import { Injectable } from '@nestjs/common';
import { asksAboutNow } from './asked-moment.js';
import { StoreService } from './store.service.js';

const IS_STARTED = `SELECT 1 FROM events WHERE run_id = {runId:String} AND episode_id = '' AND kind = 'RunStarted' LIMIT 1`;
const MOST_KEPT = 10_000;

/** Knows which runs have started. Episodes of any other run are left out, as in the views `episodes` and `steps`; the views `stored_…` have them. */
@Injectable()
export class RunStarts {
  /** Runs that have started by now: a start is removed only together with the whole run. */
  private readonly started = new Set<string>();

  constructor(private readonly store: StoreService) {}

  async has(runId: string): Promise<boolean> {
    if (asksAboutNow() && this.started.has(runId)) return true;
    const [start] = await this.store.queryRows(IS_STARTED, { runId });
    if (start === undefined) return false;
    if (this.started.size >= MOST_KEPT) this.started.clear();
    if (asksAboutNow()) this.started.add(runId);
    return true;
  }
}
