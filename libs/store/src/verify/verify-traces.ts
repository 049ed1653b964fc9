import type { AnyEvent, ControlFold, DeletedRuns } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import type { FaultList } from './fault-list.js';

interface TraceRow {
  readonly runId: string;
  readonly planId: string;
  readonly epoch: number;
  readonly numRows: number;
}

/** Rows whose events only another log has are named with that log, and not once more here. */
const COUNTS = `
  WITH (SELECT groupUniqArray(plan_id) FROM events WHERE kind = 'UpdateTraced' AND log_id = {logId:String}) AS own
  SELECT run_id AS runId, plan_id AS planId, epoch, count() AS numRows
  FROM traced_inputs FINAL
  WHERE has(own, plan_id)
    OR plan_id NOT IN (SELECT plan_id FROM events WHERE kind = 'UpdateTraced' AND log_id != {logId:String})
  GROUP BY run_id, plan_id, epoch`;

/** Compares the rows of `traced_inputs` with the events that they stand for. */
export class TraceCheck {
  /** Rows that there must be, by trace. */
  private readonly expected = new Map<string, number>();

  constructor(private readonly deletedRuns: DeletedRuns) {}

  /** Takes the next control event in log order, once the fold has it. */
  add(event: AnyEvent, fold: ControlFold): void {
    if (event.kind === 'RunDeleted') this.forget(event.runId);
    if (event.kind !== 'UpdateTraced') return;
    const { runId, payload } = event;
    if (fold.run(runId)?.updates.holdsEpoch(payload.epoch) !== true) return;
    const kept = payload.episodeIds.filter(
      (episodeId, e) => !this.deletedRuns.hasEpisode(payload.runIds[payload.episodeRuns[e]], episodeId),
    );
    if (kept.length > 0) this.expected.set(makeKey({ runId, ...payload }), kept.length);
  }

  /** @param logId of the log whose events were taken */
  async finish(client: StoreClient, faults: FaultList, logId: string): Promise<void> {
    const missing = new Map(this.expected);
    for (const row of await client.queryRows<TraceRow>(COUNTS, { params: { logId } })) {
      const key = makeKey(row);
      const numExpected = missing.get(key) ?? 0;
      missing.delete(key);
      if (row.numRows === numExpected) continue;
      const message = `the view update_inputs has ${row.numRows} rows of plan ${row.planId}; its events say ${numExpected}`;
      faults.add('RUN_VIEW_DIFFERS', `run ${row.runId}`, message);
    }
    for (const [key, numExpected] of missing) {
      const [runId, planId] = key.split(' ');
      const message = `the view update_inputs has no row of plan ${planId}; its events say ${numExpected}`;
      faults.add('RUN_VIEW_DIFFERS', `run ${runId}`, message);
    }
  }

  private forget(runId: string): void {
    for (const key of this.expected.keys()) if (key.startsWith(`${runId} `)) this.expected.delete(key);
  }
}

function makeKey({ runId, planId, epoch }: Omit<TraceRow, 'numRows'>): string {
  return `${runId} ${planId} ${epoch}`;
}
