import { readControlState } from '@retrace/log';
import { PolicyError, type CheckpointFiles } from '@retrace/policy/checkpoints';
import { listCheckpointFiles } from '@retrace/runs';
import { exportRun, readDeletedRuns, readRunHashes } from '@retrace/store';
import type { CommonOptions } from '../../options.js';
import { findRunId } from '../../run/find-run.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { openCheckpoints } from '../../services/checkpoints.js';
import { counted } from '../../terminal/counted.js';

interface ExportOptions extends CommonOptions {
  readonly run: string;
  readonly output: string;
  readonly checkpoints?: true;
}

/** Writes a run to a file and prints how much went into it. */
export async function exportRunToFile({
  dataDir,
  json,
  run,
  output: path,
  checkpoints,
}: ExportOptions): Promise<void> {
  const report = await withStore({ dataDir }, (session) =>
    exportFrom(session, { run, path, withCheckpoints: checkpoints === true }),
  );
  if (json === true) {
    console.log(JSON.stringify(report));
    return;
  }
  const { runId, numEvents, numCheckpointFiles, numDeadLetters, rowHash } = report;
  console.log(
    `run ${runId}: ${counted(numEvents, 'event')} and ${counted(numCheckpointFiles, 'checkpoint file')} in ${path}` +
      (rowHash === null ? '' : `, row hash ${rowHash}`) +
      (numDeadLetters === 0 ? '' : `; left out ${numDeadLetters} records that are not valid events`),
  );
}

interface ExportRequest {
  readonly run: string;
  readonly path: string;
  readonly withCheckpoints: boolean;
}

async function exportFrom(session: StoreSession, { run, path, withCheckpoints }: ExportRequest) {
  const { log, client, directory } = session;
  const runId = await findRunId(log, run);
  await session.catchUp();
  const [before] = await readRunHashes(client, { runId });
  return exportRun({
    log,
    runId,
    path,
    deletedRuns: await readDeletedRuns(log),
    ...(withCheckpoints && { checkpoints: readCheckpoints(log, openCheckpoints(directory), runId) }),
    // The rows of an unfinished run may change while its file is written, so only an ended run gets a hash.
    ...(before !== undefined && (await hasEnded(log, runId)) && { rowHash: before.rowHash }),
  });
}

async function hasEnded(log: StoreSession['log'], runId: string): Promise<boolean> {
  return ((await readControlState(log)).run(runId)?.ended ?? null) !== null;
}

/** Yields the run's files that are there: a trainer removes those that its recipe does not keep, also meanwhile. */
async function* readCheckpoints(log: StoreSession['log'], files: CheckpointFiles, runId: string) {
  // Checkpoints may have shards in common.
  const exported = new Set<string>();
  for (const ref of (await listCheckpointFiles(log)).get(runId)?.values() ?? []) {
    const all = await files.filesOf(ref).catch(nothingWhereMissing);
    for (const { sha256, sizeBytes } of all ?? []) {
      if (exported.has(sha256)) continue;
      exported.add(sha256);
      const bytes = await files.read({ sha256, sizeBytes }).catch(nothingWhereMissing);
      if (bytes !== null) yield { sha256, bytes };
    }
  }
}

function nothingWhereMissing(error: unknown): null {
  if (error instanceof PolicyError && error.code === 'CHECKPOINT_MISSING') return null;
  throw error;
}
