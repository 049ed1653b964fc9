import { type GroupProgressRow, readOpenGroups, type StoreClient } from '@retrace/store';
import { type AnyEvent, type ClosedGroup, closeTogether, newControlEvent } from '@retrace/trajectory';

interface ClosingOptions {
  readonly client: StoreClient;
  readonly logId: string;
  readonly runId: string;
  readonly append: (...events: readonly AnyEvent[]) => Promise<unknown>;
  readonly nowUs: number;
}

/** Groups in one event. */
const GROUPS_PER_EVENT = 1_000;

/**
 * Closes the groups of a recorded run whose members have all ended and were sampled with token ids, and returns how many these are. Other
 * groups hold nothing that an update could train on. The store must have all records of the run.
 */
export async function closeGroups({ client, logId, runId, append, nowUs }: ClosingOptions): Promise<number> {
  let numClosed = 0;
  for (let after = ''; ;) {
    const rows = await readOpenGroups(client, { runId, after, limit: GROUPS_PER_EVENT });
    if (rows.length === 0) return numClosed;
    after = rows[rows.length - 1].groupId;
    for (const groups of together(rows)) {
      const payload = closeTogether(groups);
      const event = newControlEvent({ kind: 'GroupsClosed', logId, runId, occurredAtUs: nowUs, payload });
      await append(event as AnyEvent);
      numClosed += groups.length;
    }
  }
}

/** Groups that one event may close: those that agree in split and in whether an update may train on them. */
function together(rows: readonly GroupProgressRow[]): ClosedGroup[][] {
  const bySort = new Map<string, ClosedGroup[]>();
  for (const row of rows) {
    const trainable = row.split === 'train' && row.numUntrainable === 0;
    const key = `${row.split} ${trainable}`;
    bySort.set(key, [...(bySort.get(key) ?? []), toClosedGroup(row, trainable)]);
  }
  return [...bySort.values()];
}

function toClosedGroup(row: GroupProgressRow, trainable: boolean): ClosedGroup {
  return {
    groupId: row.groupId,
    // Nobody planned rounds: all groups of a recorded run are of one.
    round: 0,
    split: row.split,
    reason: 'complete',
    trainable,
    // A caller may have recorded more members than it said.
    groupSize: Math.max(row.groupSize, row.episodeIds.length),
    episodeIds: row.episodeIds,
    numSteps: Int32Array.from(row.numSteps),
    policyVersionMin: row.policyVersionMin,
    policyVersionMax: row.policyVersionMax,
  };
}
