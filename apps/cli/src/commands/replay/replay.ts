import { matrixProducts, parseRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { StateVisits } from '@retrace/scoring';
import { REPLAY_TOLERANCE, replayUpdate, type ReplayResult } from '@retrace/trainer';
import { TrajectoryReader } from '@retrace/store';
import { CliError } from '../../cli-error.js';
import { findRun } from '../../run/find-run.js';
import type { CommonOptions } from '../../options.js';
import type { BackendChoice } from '@retrace/process';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { renderTable } from '../../terminal/table.js';

interface ReplayOptions extends CommonOptions {
  readonly run: string;
  /** `latest` is the newest of the run. */
  readonly update: number | 'latest';
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
  const report = await withStore({ dataDir }, (session) =>
    replayFrom(session, { ...request, isQuiet: json === true }),
  );
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
      `update ${report.updateNumber}: the replayed loss differs by ${report.lossDifference.toExponential(2)} from the recorded one`,
    );
  }
}

async function replayFrom(
  { log, client, directory }: StoreSession,
  { run, update, backend, isQuiet }: Omit<ReplayOptions, keyof CommonOptions> & { readonly isQuiet: boolean },
): Promise<ReplayReport> {
  const { runId, started, updates } = await findRun(log, run, {
    has: ({ updates: { numUpdates } }) => numUpdates > 0,
    lacking: 'here has an update yet',
  });
  const updateNumber = update === 'latest' ? updates.numUpdates : update;
  await openBackend({ ...matrixProducts(parseRecipe(started.recipe)), prefer: backend && [backend] });
  const result = await replayUpdate({
    log,
    checkpoints: new CheckpointFiles(directory.checkpoints),
    reader: new TrajectoryReader(client),
    visits: new StateVisits({ client, runId }),
    runId,
    updateNumber,
    onRecompute: (from, to) => {
      if (isQuiet) return;
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
