import { Injectable } from '@nestjs/common';
import { ControlChanges } from './control-changes.js';
import { KeptOfAskedRuns } from './kept-of-asked-runs.js';
import { isKeptRun } from './kept-run.js';
import { StoreService } from './store.service.js';

const OF_THESE = 'AND run_id IN {runIds:Array(String)}';

const STARTED = `
  SELECT DISTINCT run_id FROM events
  WHERE episode_id = '' AND kind = 'RunStarted' ${OF_THESE} AND ${isKeptRun(OF_THESE)}`;
const MOST_KEPT = 10_000;

/** Tells which runs have started. Episodes of any other run are left out, as in the views `episodes` and `steps`; the views `stored_…` have them. */
@Injectable()
export class RunStarts {
  private readonly started: KeptOfAskedRuns<true>;

  constructor(store: StoreService, changes: ControlChanges) {
    this.started = new KeptOfAskedRuns({
      ...{ changes, maxSize: MOST_KEPT, sizeOf: () => 1 },
      dependsOn: ({ kind }) => kind === 'RunStarted',
      read: async (runIds) => {
        const rows = await store.queryRows<{ readonly runId: string }>(STARTED, { runIds });
        return new Map(rows.map(({ runId }) => [runId, true]));
      },
    });
  }

  /** False for a run that was deleted. */
  async has(runId: string): Promise<boolean> {
    return (await this.started.of([runId])).has(runId);
  }
}
