import type { Recipe } from '@retrace/config';
import type { EventLog } from '@retrace/log';
import { ControlTail, openLog } from '@retrace/log';
import { beginRun, chooseRun, hasBaselines, recordBaselines, type BegunRun } from '@retrace/runs/begin';
import { CREATED_BY, readCodeVersion } from '../installation.js';
import { withInterrupt } from '../terminal/with-interrupt.js';
import { openDataSessionOn } from '../queries/data-session.js';
import { withConnection } from '../services/connection.js';
import { followControlEvents } from './follow-control-events.js';
import { startMetricsExport, type MetricsOptions } from './metrics-export.js';
import { measureApart } from './measure-apart.js';
import { requireEngine } from './require-engine.js';
import { RunProgress } from './run-progress.js';
import { sayChosenRun } from './said-runs.js';
import { openCheckpoints } from '../services/checkpoints.js';
import type { Services } from '../services/services.js';

/** Resumes the unfinished run of this recipe in the log of the services, or starts a new one. */
export async function beginRunOn(services: Services, recipe: Recipe): Promise<BegunRun> {
  const { directory } = services;
  return withLog(services, async (log) =>
    beginRun(log, {
      recipe,
      requireEngine,
      codeVersion: await readCodeVersion(),
      checkpoints: openCheckpoints(directory),
      withData: (work) =>
        withConnection(directory, services, services.log, async (connection) =>
          work(await openDataSessionOn({ ...services, ...connection })),
        ),
      onNotice: sayOnStderr,
      onChosen: sayChosenRun,
    }),
  );
}

/** Measures the baselines of a run in the log of the services, beside whatever else this process does. Never rejects. */
export async function recordBaselinesOn(
  services: Services,
  {
    runId,
    recipe,
    signal,
  }: { readonly runId: string; readonly recipe: Recipe; readonly signal: AbortSignal },
): Promise<void> {
  if (!hasBaselines(recipe)) return;
  const onNotice = sayOnStderr;
  try {
    await withControl(services, async (control, log) => {
      await recordBaselines({
        log,
        run: control.run(runId),
        recipe,
        measure: measureApart,
        signal,
        onNotice,
      });
    });
  } catch (error) {
    onNotice(`baselines: none recorded: ${(error as Error).message}`);
  }
}

interface WatchOptions {
  /** Where metrics go beside the log. */
  readonly metrics: MetricsOptions;
  /** Ends the watch once all that is in the log by then was passed on. */
  readonly signal: AbortSignal;
}

/** Prints how far a run in the log of the services is, and writes its metrics to the files that the options name. Never rejects. */
export async function watchRunOn(
  services: Services,
  { runId, recipe }: BegunRun,
  { metrics, signal }: WatchOptions,
): Promise<void> {
  try {
    await withControl(services, async ({ state }, log) => {
      const { name } = recipe;
      const exported = await startMetricsExport(log, { ...metrics, runId, name, onNotice: sayOnStderr });
      const progress = new RunProgress(recipe);
      for await (const { event, offset } of followControlEvents(log, state.nextOffset, signal)) {
        const { applied } = state.apply(event, offset);
        const run = state.run(runId);
        const line = applied && run && event.runId === runId ? progress.describe(event, run) : null;
        if (line !== null) console.log(line);
      }
      await exported.end();
    });
  } catch (error) {
    sayOnStderr(`run ${runId} is not watched: ${(error as Error).message}`);
  }
}

/** Chooses a run in the log of the services, as `chooseRun` does; SIGTERM and SIGINT end the wait. */
export async function chooseRunOn(services: Services, run: string): Promise<string | null> {
  return withInterrupt(
    (signal) =>
      withControl(services, (control) => chooseRun(control, run, { signal, onChosen: sayChosenRun })),
    {
      signals: ['SIGTERM', 'SIGINT'],
    },
  );
}

function sayOnStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

function withControl<T>(
  services: Services,
  work: (control: ControlTail, log: EventLog) => Promise<T>,
): Promise<T> {
  return withLog(services, async (log) => {
    const control = new ControlTail(log);
    try {
      await control.catchUp();
      return await work(control, log);
    } finally {
      control.close();
    }
  });
}

async function withLog<T>(services: Services, work: (log: EventLog) => Promise<T>): Promise<T> {
  const log = await openLog(services.log, CREATED_BY);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}
