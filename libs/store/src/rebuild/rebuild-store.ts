import type { EventLog } from '@retrace/log';
import type { DeletedRuns } from '@retrace/trajectory';
import { readDeletedRuns } from '../admission/deletion-watch.js';
import { catchUp } from '../catch-up/catch-up.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { TRACED_INPUTS } from '../rows/traced-inputs.js';
import { refuseOtherLogs } from '../position/other-logs.js';
import { readNextOffset } from '../position/store-position.js';
import { type StreamPartition, listStreamPartitions } from '../rows/stream-partition.js';
import { DEAD_LETTER_KIND, WATERMARK_EPISODE_ID } from '../rows/event-rows.js';
import { migrate, type MigrateOptions } from '../schema/migrate.js';
import { readRunHashes, type RunHash } from '../verify/row-hash.js';
import { projectRecords } from './project-records.js';

export interface RebuildOptions {
  readonly log: EventLog;
  readonly client: StoreClient;
  /** Another client of the same store, in this database; `rebuildStore` closes it. */
  readonly openClient: (database: string) => StoreClient;
  /** Rebuild only this run and keep the other rows unchanged. Default: everything. */
  readonly runId?: string;
  /** Whether the rows of other logs, which this one can't make again, may go (default false). */
  readonly acceptsOtherLogs?: boolean;
  readonly migrations?: MigrateOptions;
  readonly signal?: AbortSignal;
}

export interface RebuildReport {
  /** Null where the rows could not be read, which a rebuild repairs. */
  readonly before: readonly RunHash[] | null;
  readonly after: readonly RunHash[];
  /** Rows written from records of the log. */
  readonly numRowsProjected: number;
  readonly projectingMs: number;
}

const REBUILD_DATABASE = 'retrace_rebuild';

interface Position extends StreamPartition {
  readonly nextOffset: number;
}

/**
 * Rebuilds the store from the log, in fresh tables that then replace the old ones in one step: readers see the old rows or the new ones,
 * never a mixture.
 *
 * A sink may run meanwhile. It keeps inserting into the table named `events`, so the rows that it wrote to the old table after the new one
 * was made are written to the new one after the exchange. Until then (a moment) the newest records can't be read. A rebuild that is killed
 * leaves the store unchanged, or with that gap, which `verifyStore` reports. The next rebuild closes the gap and drops leftover tables.
 *
 * @throws StoreError `CLUSTER_UNSUPPORTED` on a cluster, whose tables no statement exchanges at once; `STORE_OF_OTHER_LOG`; StoreError, LogError; the reason of `signal` when it aborts before the exchange
 */
export async function rebuildStore(options: RebuildOptions): Promise<RebuildReport> {
  const { client, log, runId, signal } = options;
  if (client.layout.cluster !== null) {
    const rule =
      'stop the sinks, drop the tables and start the sinks again, which write the store from the log';
    throw new StoreError(
      'CLUSTER_UNSUPPORTED',
      `A store on cluster ${client.layout.cluster} can't be rebuilt in place; ${rule}`,
    );
  }
  if (runId === undefined && options.acceptsOtherLogs !== true) await refuseOtherLogs(client, log.logId);
  const before = await readRunHashes(client, { ...(signal && { signal }) }).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'STORE_EXCEPTION') return null;
    throw error;
  });
  await client.command(`DROP DATABASE IF EXISTS ${REBUILD_DATABASE} SYNC`);
  await client.command(`CREATE DATABASE ${REBUILD_DATABASE}`);
  const fresh = options.openClient(REBUILD_DATABASE);
  try {
    await migrate(fresh, { ...options.migrations, withViews: false });
    const deletedRuns = await readDeletedRuns(log);
    const startedMs = performance.now();
    const built =
      runId === undefined
        ? await projectAll(options, fresh)
        : await projectRun(options, { fresh, runId, deletedRuns });
    const projectingMs = performance.now() - startedMs;
    signal?.throwIfAborted();
    // The events are exchanged last: rows of the other table show once they name the commit.
    for (const table of [TRACED_INPUTS, 'events'])
      await client.command(`EXCHANGE TABLES ${client.database}.${table} AND ${REBUILD_DATABASE}.${table}`);
    for (const { nextOffset, ...position } of built.positions) {
      const endOffset = await log.endOffset(position.stream, position.partition);
      await projectRecords({ log, client, position, fromOffset: nextOffset, endOffset, deletedRuns });
    }
    return { before, after: await readRunHashes(client), numRowsProjected: built.numRows, projectingMs };
  } finally {
    await fresh.close();
    await client.command(`DROP DATABASE IF EXISTS ${REBUILD_DATABASE} SYNC`);
  }
}

interface Built {
  readonly numRows: number;
  /** Up to where the fresh table has the rows of all records. */
  readonly positions: readonly Position[];
}

async function projectAll({ log }: RebuildOptions, fresh: StoreClient): Promise<Built> {
  await catchUp(log, fresh);
  const [{ numRows }] = await fresh.queryRows<{ numRows: number }>(
    `SELECT count() AS numRows FROM events WHERE episode_id != '${WATERMARK_EPISODE_ID}'`,
  );
  return { numRows, positions: await readPositions(log, fresh) };
}

interface RunProjection {
  readonly fresh: StoreClient;
  readonly runId: string;
  readonly deletedRuns: DeletedRuns;
}

async function projectRun(
  { log, client, signal }: RebuildOptions,
  { fresh, runId, deletedRuns }: RunProjection,
): Promise<Built> {
  // Before the copy: a sink that runs meanwhile only adds to it.
  const positions = await readPositions(log, client);
  let numRows = 0;
  for (const { nextOffset: endOffset, ...position } of positions) {
    numRows += await projectRecords({
      log,
      client: fresh,
      position,
      fromOffset: 0,
      endOffset,
      deletedRuns,
      runId,
      ...(signal && { signal }),
    });
  }
  await client.command(
    `INSERT INTO ${REBUILD_DATABASE}.events SELECT * FROM events
     WHERE run_id != {runId:String}
       AND NOT (run_id = '' AND kind = '${DEAD_LETTER_KIND}' AND JSONExtractString(payload, 'runId') = {runId:String})`,
    { params: { runId }, settings: { optimize_on_insert: 0, insert_deduplicate: 0 } },
  );
  await client.command(
    `INSERT INTO ${REBUILD_DATABASE}.${TRACED_INPUTS} SELECT * FROM ${TRACED_INPUTS} WHERE run_id != {runId:String}`,
    { params: { runId } },
  );
  return { numRows, positions };
}

function readPositions(log: EventLog, client: StoreClient): Promise<Position[]> {
  return Promise.all(
    listStreamPartitions(log).map(async (position) => ({
      ...position,
      nextOffset: await readNextOffset(client, position),
    })),
  );
}
