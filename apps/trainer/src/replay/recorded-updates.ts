import type { EventLog } from '@retrace/log';
import {
  ControlFold,
  type BatchPlanned,
  type PolicyPublished,
  type RunStarted,
  type UpdateApplied,
  type UpdateTraced,
} from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { TrainerError } from '../trainer-error.js';
import { TokenDigest } from './token-digest.js';

export interface RecordedUpdate {
  readonly plan: BatchPlanned;
  readonly commit: UpdateApplied;
  /** null for an update from before traces were written. */
  readonly trace: UpdateTraced | null;
  /** `TokenDigest` of the tokens; null where they were not recorded. */
  readonly tokenDigest: string | null;
  /** Offsets of the records that have them in stream `control`. */
  readonly tokenOffsets: readonly number[];
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
  /** By plan and epoch: a trainer that lost its claim may have left one of the same plan. */
  const traces = new Map<string, UpdateTraced>();
  const tokens = new Map<string, { readonly digest: TokenDigest; readonly offsets: number[] }>();
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
      else if (event.kind === 'UpdateTraced') traces.set(traceKey(event.payload), event.payload);
      else if (event.kind === 'UpdateTokensTraced') {
        const key = traceKey(event.payload);
        const known = tokens.get(key) ?? { digest: new TokenDigest(), offsets: [] };
        tokens.set(key, known);
        known.digest.add(event.payload);
        known.offsets.push(record.offset);
      } else if (event.kind === 'PolicyPublished') policies.set(event.payload.policyVersion, event.payload);
      else if (event.kind === 'UpdateApplied') {
        const plan = plans.get(event.payload.planId);
        const key = traceKey(event.payload);
        const trace = traces.get(key) ?? null;
        const { digest, offsets: tokenOffsets = [] } = tokens.get(key) ?? {};
        const recorded = { trace, tokenDigest: digest?.value() ?? null, tokenOffsets };
        traces.clear();
        tokens.clear();
        if (plan) updates.set(event.payload.updateNumber, { plan, commit: event.payload, ...recorded });
      }
    }
  }
  const run = fold.run(runId)?.started;
  if (!run) throw new TrainerError('RUN_UNKNOWN', `run ${runId} is not in this log`);
  return { run, updates, policies };
}

function traceKey({ planId, epoch }: Pick<UpdateTraced, 'planId' | 'epoch'>): string {
  return `${planId} ${epoch}`;
}
