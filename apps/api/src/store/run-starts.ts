import { Injectable } from '@nestjs/common';
import { asksAboutNow } from './asked-moment.js';
import { StoreService } from './store.service.js';

const IS_STARTED = `SELECT 1 FROM events WHERE run_id = {runId:String} AND episode_id = '' AND kind = 'RunStarted' LIMIT 1`;
const MOST_KEPT = 10_000;

/** Tells which runs have started. Episodes of any other run are left out, as in the views `episodes` and `steps`; the views `stored_…` have them. */
@Injectable()
export class RunStarts {
  /** Runs that had started when they were asked about; some may have been deleted since. */
  private readonly started = new Set<string>();

  constructor(private readonly store: StoreService) {}

  /** Asks the store each time. */
  async has(runId: string): Promise<boolean> {
    const [start] = await this.store.queryRows(IS_STARTED, { runId });
    return start !== undefined;
  }

  /** As `has`, but asks the store only until the run has started: for lists, which then may show late rows of a deleted run until the sink removes them. */
  async hadStarted(runId: string): Promise<boolean> {
    if (!asksAboutNow()) return this.has(runId);
    if (this.started.has(runId)) return true;
    if (!(await this.has(runId))) return false;
    if (this.started.size >= MOST_KEPT) this.started.clear();
    this.started.add(runId);
    return true;
  }
}
