import { deleteRun } from '@retrace/runs/delete';
import type { CommonOptions } from '../../options.js';
import { findRunId } from '../../run/find-run.js';
import { openCheckpoints } from '../../services/checkpoints.js';
import { withStore } from '../../services/store-session.js';
import { counted } from '../../terminal/counted.js';

interface DeleteOptions extends CommonOptions {
  readonly force?: true;
}

/** Deletes a run and prints what was removed. */
export async function deleteOne(run: string, { dataDir, json, force }: DeleteOptions): Promise<void> {
  const report = await withStore({ dataDir }, async (session) => {
    const runId = await findRunId(session.log, run);
    const checkpoints = openCheckpoints(session.directory);
    return deleteRun({ ...session, checkpoints }, { runId, force: force === true, detail: 'by request' });
  });
  if (json === true) {
    console.log(JSON.stringify(report));
    return;
  }
  const { runId, numRows, numReleased, numCheckpointFiles } = report;
  const removed = `${counted(numRows, 'row')}, ${counted(numCheckpointFiles, 'checkpoint file')}`;
  console.log(
    numReleased === null
      ? `deleted run ${runId}: ${removed}; a log on Kafka keeps its records until the topic drops them`
      : `deleted run ${runId}: ${removed}, ${counted(numReleased, 'log record')}`,
  );
}
