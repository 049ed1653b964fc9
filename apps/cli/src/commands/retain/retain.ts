import { deleteRun } from '@retrace/runs/delete';
import { StoreError } from '@retrace/store';
import { ControlTail, readControlState } from '@retrace/log';
import { REMARK_KINDS } from '@retrace/trajectory';
import type { CommonOptions } from '../../options.js';
import { isRefusal } from '../../run/refusal.js';
import { openCheckpoints } from '../../services/checkpoints.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { renderRecords } from '../../terminal/table.js';
import { counted } from '../../terminal/counted.js';

interface RetainOptions extends CommonOptions {
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: true;
  readonly force?: true;
}

interface RetentionRequest {
  /** Runs whose last event is older than this, in milliseconds since the Unix epoch. */
  readonly beforeMs: number;
  readonly dryRun: boolean;
  readonly force: boolean;
}

interface RetentionReport {
  readonly deleted: readonly {
    readonly runId: string;
    readonly name: string;
    readonly lastEventAt: string;
  }[];
  /** Old enough to be deleted, but kept. */
  readonly kept: readonly { readonly runId: string; readonly reason: string }[];
  readonly dryRun: boolean;
}

/** Deletes old runs and prints which were deleted and which had to be kept. */
export async function retain({ dataDir, json, olderThan, dryRun, force }: RetainOptions): Promise<void> {
  const report = await withStore({ dataDir }, (session) =>
    applyRetention(session, {
      beforeMs: Date.now() - olderThan,
      dryRun: dryRun === true,
      force: force === true,
    }),
  );
  if (json === true) {
    console.log(JSON.stringify(report, null, 2));
    return;
  }
  if (report.deleted.length > 0) console.log(renderRecords(report.deleted));
  for (const { reason } of report.kept) console.log(`kept: ${reason}`);
  console.log(`${report.dryRun ? 'would delete' : 'deleted'} ${counted(report.deleted.length, 'run')}`);
}

/** Deletes old runs, newest first, so that a run goes before the runs that it depends on. A run that a younger one depends on stays. */
async function applyRetention(
  session: StoreSession,
  { beforeMs, dryRun, force }: RetentionRequest,
): Promise<RetentionReport> {
  await session.catchUp();
  const { runs } = await readControlState(session.log);
  const names = new Map(runs.map((run) => [run.runId, run.started.name]));
  const old = (await readLastEvents(session, beforeMs)).filter(({ runId }) => names.has(runId));
  const describe = ({ runId, lastEventAt }: LastEvent) => ({
    runId,
    lastEventAt,
    name: names.get(runId) ?? '',
  });
  if (dryRun) return { deleted: old.map(describe), kept: [], dryRun };
  if (old.length === 0) return { deleted: [], kept: [], dryRun };

  const detail = `no event since ${new Date(beforeMs).toISOString()}`;
  const control = new ControlTail(session.log);
  const scope = { beforeUs: beforeMs * 1000, runIds: old.map(({ runId }) => runId) };
  await control.append('', { kind: 'RetentionApplied', payload: { scope, detail } });
  control.close();
  const checkpoints = openCheckpoints(session.directory);
  const deleted: LastEvent[] = [];
  const kept: { runId: string; reason: string }[] = [];
  for (const each of old) {
    try {
      await deleteRun({ ...session, checkpoints }, { runId: each.runId, force, detail });
      deleted.push(each);
    } catch (error) {
      const isUsed = error instanceof StoreError && error.code === 'RUN_REFERRED_TO';
      if (!isUsed && !isRefusal(error)) throw error;
      kept.push({ runId: each.runId, reason: error.message });
    }
  }
  return { deleted: deleted.map(describe), kept, dryRun };
}

interface LastEvent {
  readonly runId: string;
  readonly lastEventAt: string;
}

function readLastEvents({ client }: StoreSession, beforeMs: number): Promise<LastEvent[]> {
  return client.queryRows<LastEvent>(
    `SELECT run_id AS runId, toString(max(occurred_at)) AS lastEventAt
     FROM events WHERE run_id != '' AND kind NOT IN {noActivity:Array(String)}
     GROUP BY run_id
     HAVING toUnixTimestamp64Micro(max(occurred_at)) < {beforeUs:Int64}
     ORDER BY run_id DESC`,
    { params: { beforeUs: beforeMs * 1000, noActivity: ['RunDeleted', 'EpisodesDeleted', ...REMARK_KINDS] } },
  );
}
