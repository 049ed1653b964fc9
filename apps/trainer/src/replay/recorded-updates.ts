import type { EventLog } from '@retrace/log';
import {
  ControlFold,
  type BatchPlanned,
  type PolicyPublished,
  type RunStarted,
  type UpdateApplied,
} from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { TrainerError } from '../trainer-error.js';

interface RecordedUpdate {
  readonly plan: BatchPlanned;
  readonly commit: UpdateApplied;
}

/** The committed updates of a run, as the log has them. */
export interface RecordedUpdates {
  readonly run: RunStarted;
  /** By number, 1, 2, 3 … without a gap. */
  readonly updates: ReadonlyMap<number, RecordedUpdate>;
  readonly policies: ReadonlyMap<number, PolicyPublished>;
}

/**
 * Reads the updates of a run from the control stream; a commit counts if the fold accepts it.
 *
 * @throws TrainerError `RUN_UNKNOWN`
 */
export async function readRecordedUpdates(log: EventLog, runId: string): Promise<RecordedUpdates> {
  const fold = new ControlFold();
  const plans = new Map<string, BatchPlanned>();
  const updates = new Map<number, RecordedUpdate>();
  const policies = new Map<number, PolicyPublished>();
  for (let offset = 0; ;) {
    const records = await log.read('control', 0, offset);
    if (records.length === 0) break;
    for (const record of records) {
      offset = record.offset + 1;
      const decoded = decodeEvent(record.bytes);
      if (!decoded.ok) continue;
      const { event } = decoded;
      const { applied } = fold.apply(event, record.offset);
      if (!applied || event.runId !== runId) continue;
      if (event.kind === 'BatchPlanned') plans.set(event.payload.planId, event.payload);
      else if (event.kind === 'PolicyPublished') policies.set(event.payload.policyVersion, event.payload);
      else if (event.kind === 'UpdateApplied') {
        const plan = plans.get(event.payload.planId);
        if (plan) updates.set(event.payload.updateNumber, { plan, commit: event.payload });
      }
    }
  }
  const run = fold.run(runId)?.started;
  if (!run) throw new TrainerError('RUN_UNKNOWN', `run ${runId} is not in this log`);
  return { run, updates, policies };
}
