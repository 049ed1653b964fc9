import { matrixProducts, parseRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { StateVisits } from '@retrace/scoring';
import { REPLAY_TOLERANCE, replayUpdate, type ReplayResult } from '@retrace/trainer';
import { TrajectoryReader } from '@retrace/store';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import type { BackendChoice } from '@retrace/process';
import { readControlState } from '../../services/control-state.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { renderTable } from '../../terminal/table.js';

interface ReplayOptions extends CommonOptions {
  /** Run id, or `latest` for the newest run that has an update. */
  readonly run: string;
  readonly update: number;
  readonly backend?: BackendChoice;
}

interface ReplayReport extends ReplayResult {
  readonly runId: string;
  readonly isReproduced: boolean;
}

/**
 * Re-runs a recorded update on its stored episodes and prints both results.
 *
 * @throws CliError `REPLAY_DIFFERS`, `RUN_UNKNOWN`; TrainerError `NOT_REPLAYABLE` when the reference policy's weights are gone
 */
export async function replay({ dataDir, json, ...request }: ReplayOptions): Promise<void> {
  const report = await withStore({ dataDir }, (session) => replayFrom(session, request));
  if (json === true) {
    console.log(JSON.stringify(report, null, 2));
  } else {
    const rows = report.metrics.map(({ name, recorded, replayed }) => [name, recorded, replayed]);
    console.log(renderTable(['metric', 'recorded', 'replayed'], rows));
    console.log(
      `weights: ${report.sameWeights ? 'bit-identical' : 'not bit-identical (rounding differs between backends and machines)'}`,
    );
    if (report.firstInexact !== null) {
      const what = `the state that it starts from was made again from update ${report.beganAfter} on`;
      console.log(`${what}, and differs by rounding since update ${report.firstInexact}`);
    }
  }
  if (!report.isReproduced) {
    throw new CliError(
      'REPLAY_DIFFERS',
      `update ${request.update}: the replayed loss differs by ${report.lossDifference.toExponential(2)} from the recorded one`,
    );
  }
}

async function replayFrom(
  { log, client, directory }: StoreSession,
  { run, update: updateNumber, backend }: Omit<ReplayOptions, keyof CommonOptions>,
): Promise<ReplayReport> {
  const { runs } = await readControlState(log);
  const newest = runs.findLast(({ updates }) => updates.numUpdates > 0);
  const runId = run === 'latest' ? newest?.runId : run;
  if (runId === undefined) {
    throw new CliError(
      'RUN_UNKNOWN',
      'run "latest" not found: no run here has an update yet; see "retrace runs"',
    );
  }
  const recorded = runs.find((candidate) => candidate.runId === runId);
  const products = recorded && matrixProducts(parseRecipe(recorded.started.recipe));
  await openBackend({ ...products, prefer: backend && [backend] });
  const result = await replayUpdate({
    log,
    checkpoints: new CheckpointFiles(directory.checkpoints),
    reader: new TrajectoryReader(client),
    visits: new StateVisits({ client, runId }),
    runId,
    updateNumber,
    onRecompute: (from, to) => {
      console.error(
        `update ${updateNumber}: the state that it starts from is not kept; making ${describeRange(from, to)} again first`,
      );
    },
  });
  return { runId, ...result, isReproduced: result.lossDifference <= REPLAY_TOLERANCE };
}

function describeRange(from: number, to: number): string {
  return from === to ? `update ${from}` : `updates ${from}–${to}`;
}
