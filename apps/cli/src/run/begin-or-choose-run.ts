import type { Recipe } from '@retrace/config';
import type { EventLog } from '@retrace/log';
import { ControlTail, openLog } from '@retrace/log';
import { CREATED_BY, readCodeVersion } from '../installation.js';
import { beginRun, type BegunRun } from './begin-run.js';
import { withInterrupt } from '../terminal/with-interrupt.js';
import { chooseRun } from './choose-run.js';
import { recordBaselines } from './record-baselines.js';
import type { Services } from '../services/services.js';

/** Resumes the unfinished run of this recipe in the log of the services, or starts a new one. */
export async function beginRunOn(services: Services, recipe: Recipe): Promise<BegunRun> {
  return withControl(services, async (control, log) => {
    return beginRun(log, control.state, { recipe, codeVersion: await readCodeVersion() });
  });
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
  const onNotice = (line: string) => {
    process.stderr.write(`${line}\n`);
  };
  try {
    await withControl(services, async (control, log) => {
      if (!control.run(runId).hasBaselines) await recordBaselines({ log, runId, recipe, signal, onNotice });
    });
  } catch (error) {
    onNotice(`baselines: none recorded: ${(error as Error).message}`);
  }
}

/** Chooses a run in the log of the services, as `chooseRun` does; SIGTERM and SIGINT end the wait. */
export async function chooseRunOn(services: Services, run: string): Promise<string | null> {
  return withInterrupt((signal) => withControl(services, (control) => chooseRun(control, run, signal)), {
    signals: ['SIGTERM', 'SIGINT'],
  });
}

async function withControl<T>(
  services: Services,
  work: (control: ControlTail, log: EventLog) => Promise<T>,
): Promise<T> {
  const log = await openLog(services.log, CREATED_BY);
  const control = new ControlTail(log);
  try {
    await control.catchUp();
    return await work(control, log);
  } finally {
    control.close();
    await log.close();
  }
}
