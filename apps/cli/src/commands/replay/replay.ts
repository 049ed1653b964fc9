import { matrixProducts, parseRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { replayTolerance, replayUpdate, type ReplayResult } from '@retrace/trainer';
import { StateVisits } from '@retrace/scoring';
import { TrajectoryReader } from '@retrace/store';
import { ControlTail } from '@retrace/log';
import { CliError } from '../../cli-error.js';
import type { BackendName } from '../../server/role-definitions.js';
import type { StoreSession } from '../../services/connection.js';

export interface ReplayRequest {
  /** Run id, or `latest` for the newest run that has an update. */
  readonly run: string;
  readonly updateNumber: number;
  readonly backend?: BackendName;
}

export interface ReplayReport extends ReplayResult {
  readonly runId: string;
  readonly isReproduced: boolean;
}

/** Replays an update of the session's log on its stored episodes. */
export async function replayRecordedUpdate(
  { log, client, directory }: StoreSession,
  { run, updateNumber, backend }: ReplayRequest,
): Promise<ReplayReport> {
  const control = new ControlTail(log);
  await control.catchUp();
  control.close();
  const newest = control.state.runs.findLast(({ updates }) => updates.numUpdates > 0);
  const runId = run === 'latest' ? newest?.runId : run;
  if (runId === undefined) {
    throw new CliError('RUN_UNKNOWN', 'run latest: no run here has an update yet; see "retrace runs"');
  }
  const recorded = control.state.runs.find((candidate) => candidate.runId === runId);
  const products = recorded && matrixProducts(parseRecipe(recorded.started.recipe));
  await openBackend({ ...products, prefer: backend && [backend] });
  const result = await replayUpdate({
    log,
    checkpoints: new CheckpointFiles(directory.checkpoints),
    reader: new TrajectoryReader(client),
    visits: new StateVisits({ client, runId }),
    runId,
    updateNumber,
  });
  return { runId, ...result, isReproduced: result.lossDifference <= replayTolerance };
}
