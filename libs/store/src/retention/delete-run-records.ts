import { trajectoryEnds, type EventLog } from '@retrace/log';
import { newControlEvent, nowUs } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { catchUp } from '../catch-up/catch-up.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { listStreamPartitions } from '../rows/stream-partition.js';
import { TRACED_INPUTS } from '../rows/traced-inputs.js';
import { DEAD_LETTERS_OF_RUN, EVENTS_OF_RUN } from '../rows/rows-of-run.js';
import { markPositions } from './mark-positions.js';
import { hideRows } from '../schema/hide-rows.js';
import { deletedPlaceholder } from './deleted-placeholder.js';
import { toOffsetRanges } from './offset-ranges.js';
import { findRunReferences } from './run-references.js';

export interface DeleteRunRecords {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly runId: string;
  /** The reason in words, which `RunDeleted` records. */
  readonly detail: string;
  /** Deletes the run even if other runs depend on it. */
  readonly force: boolean;
  /** Brings the store to where the log is (default: a sink of its own). Where another sink runs, it must be waited for, so that it is past the run. */
  readonly bringUpToDate?: () => Promise<void>;
  /** Called once the deletion is in the log, while the log still has the run's events. */
  readonly onCommitted?: () => Promise<void>;
}

export interface DeleteRunReport {
  readonly runId: string;
  /** Rows deleted from all tables of the store. */
  readonly numRows: number;
  /** Records that the log released; null where it can't release single records. */
  readonly numReleased: number | null;
}

/**
 * Deletes a run from the store and the log, and not its checkpoints: `deleteRun` of `libs/runs` does. `RunDeleted` in the log is the commit: from then on every sink, rebuild and fold ignores the
 * run's records. Then follow a watermark in every partition (so that no sink's position moves back), the release of the records in the
 * log, and the deletion of the rows. Calling this again completes a deletion that was cut short after its commit.
 *
 * Nothing may append to the run meanwhile: records after the ends in `RunDeleted` would be a run without a start.
 *
 * @throws StoreError `RUN_REFERRED_TO` naming the runs that depend on it, unless forced; StoreError, LogError
 */
export async function deleteRunRecords(job: DeleteRunRecords): Promise<DeleteRunReport> {
  const { log, client, runId, force, bringUpToDate = () => catchUp(log, client) } = job;
  await bringUpToDate();
  const references = await findRunReferences(client, runId);
  if (references.length > 0 && !force) {
    const who = references.map((reference) => `run ${reference.runId} ${reference.how}`).join('; ');
    throw new StoreError(
      'RUN_REFERRED_TO',
      `Run ${runId} is used by other runs, so its deletion must be forced: ${who}`,
    );
  }
  await commit(job, references.length > 0);
  await job.onCommitted?.();
  await bringUpToDate();
  await markPositions(log, client);
  const numReleased = await releaseRecords(log, client, runId);
  return { runId, numReleased, numRows: await deleteRows(client, runId) };
}

async function commit({ log, runId, detail }: DeleteRunRecords, forced: boolean): Promise<void> {
  const ends = { trajectoryEnds: await trajectoryEnds(log), controlEnd: await log.endOffset('control', 0) };
  const event = newControlEvent({
    kind: 'RunDeleted',
    logId: log.logId,
    runId,
    occurredAtUs: nowUs(),
    payload: { ...ends, forced, detail },
  });
  await log.append('control', 0, [encodeEvent(event)]);
}

/** The tables with rows of a run: what was computed from its events, and these at last, since by them a deletion that was cut short is found again. */
const ROWS_OF_RUN: readonly { readonly table: string; readonly condition: string }[] = [
  { table: 'reward_scores', condition: 'run_id = {runId:String}' },
  { table: TRACED_INPUTS, condition: 'run_id = {runId:String}' },
  { table: 'reward_definitions', condition: 'run_id = {runId:String}' },
  { table: 'events', condition: DEAD_LETTERS_OF_RUN },
  { table: 'events', condition: EVENTS_OF_RUN },
];

async function releaseRecords(log: EventLog, client: StoreClient, runId: string): Promise<number | null> {
  if (log.release === undefined) return null;
  let numReleased = 0;
  for (const position of listStreamPartitions(log)) {
    const ranges = await toOffsetRanges(client, position, [EVENTS_OF_RUN, DEAD_LETTERS_OF_RUN], { runId });
    numReleased += await log.release(position.stream, position.partition, ranges, deletedPlaceholder);
  }
  return numReleased;
}

async function deleteRows(client: StoreClient, runId: string): Promise<number> {
  const params = { runId };
  let numRows = 0;
  for (const { table, condition } of ROWS_OF_RUN) {
    const count = `SELECT count() AS n FROM ${table} WHERE ${condition}`;
    const [{ n }] = await client.queryRows<{ n: number }>(count, { params });
    if (n === 0) continue;
    await hideRows(client, { table, where: condition, params });
    numRows += n;
  }
  return numRows;
}
