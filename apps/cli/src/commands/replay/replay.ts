import { replayUpdate, type ReplayedOptimizerStep, type ReplayResult } from '@retrace/trainer';
import type { EngineRecipe } from '@retrace/config';
import type { BackendChoice } from '@retrace/process';
import type { UsedEngine } from '@retrace/trajectory';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { renderTable } from '../../terminal/table.js';
import { announceRecomputing, openReplaySource } from './replay-source.js';

interface ReplayOptions extends CommonOptions {
  readonly run: string;
  /** `latest` is the newest of the run. */
  readonly update?: number | 'latest';
  readonly backend?: BackendChoice;
  readonly engine?: EngineRecipe['kind'];
  readonly engineBackend?: EngineRecipe['backend'];
  readonly enginePython?: string;
  readonly engineUrl?: string;
  readonly engineTokenFile?: string;
}

interface ReplayReport extends ReplayResult {
  readonly runId: string;
}

/** Rows of a table of optimizer steps: those around the first that differs. */
const MAX_SHOWN_STEPS = 8;

/**
 * Re-runs a recorded update on its stored episodes and prints both results.
 *
 * @throws CliError `REPLAY_DIFFERS`, `OPTION_INVALID`; RunsError `RUN_UNKNOWN`; TrainerError `NOT_REPLAYABLE` when the reference policy's weights are gone
 */
export async function replay({ dataDir, json, update, ...request }: ReplayOptions): Promise<void> {
  if (update === undefined) {
    const rule = 'give --update <number>, or "retrace replay run" for all updates of a run';
    throw new CliError('OPTION_INVALID', `--update is missing; ${rule}`);
  }
  const report = await withStore({ dataDir }, (session) =>
    replayFrom(session, { ...request, update, isQuiet: json === true }),
  );
  if (json === true) console.log(JSON.stringify(report, null, 2));
  else printReplay(report);
  if (!report.isReproduced) {
    throw new CliError(
      'REPLAY_DIFFERS',
      `update ${report.updateNumber}: the replayed loss differs by ${report.lossDifference.toExponential(2)} from the recorded one`,
    );
  }
}

function printReplay(report: ReplayReport): void {
  const rows = report.metrics.map(({ name, recorded, replayed }) => [name, recorded, replayed]);
  console.log(renderTable(['metric', 'recorded', 'replayed'], rows));
  if (report.engine !== null) console.log(`engine: ${describeEngines(report.engine)}`);
  console.log(
    `weights: ${report.sameWeights ? 'bit-identical' : 'not bit-identical (rounding differs between backends and machines)'}`,
  );
  if (report.sameTokens !== null)
    console.log(
      `tokens: ratio, advantage, value, KL, entropy and clip of each ${report.sameTokens ? 'are the recorded ones' : 'differ from the recorded ones somewhere'}`,
    );
  if (report.firstInexact !== null) {
    const what = `the state that it starts from was made again from update ${report.beganAfter} on`;
    console.log(`${what}, and differs by rounding since update ${report.firstInexact}`);
  }
  if (report.steps !== null && report.firstDifferingStep !== null)
    printSteps(report.steps, report.firstDifferingStep);
}

function describeEngines({ recorded, replayed }: NonNullable<ReplayResult['engine']>): string {
  const describe = ({ kind, version, device, numProcesses, precision }: UsedEngine) =>
    `${kind} (${version}, ${device}, ${numProcesses} process${numProcesses === 1 ? '' : 'es'}, ${precision})`;
  if (JSON.stringify(recorded) === JSON.stringify(replayed)) return describe(replayed);
  return `recorded on ${describe(recorded)}, replayed on ${describe(replayed)}`;
}

/** Prints the optimizer steps from just before the first that differs. */
function printSteps(steps: readonly ReplayedOptimizerStep[], firstDiffering: number): void {
  console.log(`optimizer step ${firstDiffering} of ${steps.length} is the first that differs:`);
  const from = Math.max(0, firstDiffering - 2);
  const rows = steps
    .slice(from, from + MAX_SHOWN_STEPS)
    .map((step) => [
      step.step,
      step.recordedLoss,
      step.replayedLoss,
      step.recordedGradientNorm,
      step.replayedGradientNorm,
    ]);
  const titles = ['step', 'loss recorded', 'loss replayed', 'norm recorded', 'norm replayed'];
  console.log(renderTable(titles, rows));
}

async function replayFrom(
  session: StoreSession,
  {
    update,
    isQuiet,
    ...request
  }: Pick<ReplayOptions, 'run' | 'backend' | 'engine' | 'enginePython'> & {
    readonly update: number | 'latest';
    readonly isQuiet: boolean;
  },
): Promise<ReplayReport> {
  const { numUpdates, recipe: _, ...source } = await openReplaySource(session, request);
  const updateNumber = update === 'latest' ? numUpdates : update;
  const result = await replayUpdate({
    ...source,
    updateNumber,
    ...(isQuiet ? {} : { onRecompute: announceRecomputing(updateNumber) }),
  });
  return { runId: source.runId, ...result };
}
