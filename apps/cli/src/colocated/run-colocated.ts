import { runCollector, runValidator } from '@retrace/collector';
import { ControlTail, openLog, type EventLog } from '@retrace/log';
import { OfferedPolicy } from '@retrace/policy';
import type { Supervised } from '@retrace/process';
import { runTrainer } from '@retrace/trainer';
import { KnownEvents } from '@retrace/trajectory/codec';
import { readColocatedConfig } from './colocated-config.js';
import { runTogether, type Part } from './run-together.js';

/**
 * Trainer and collector of a run in this process, and its validator where the environment says so, until the run ends or the process is asked to
 * stop: the same as in processes of their own, around one log and one TensorFlow. The trainer offers each policy to the collector as soon as it is
 * made.
 */
export async function runColocated(environment: NodeJS.ProcessEnv, supervised: Supervised): Promise<void> {
  const { trainer, collector, validator } = readColocatedConfig(environment);
  const log = await openLog(trainer.log, 'trainer');
  const shared = { log, offered: new OfferedPolicy(), known: new KnownEvents() };
  const parts: Part[] = [
    { run: (ofTrainer) => runTrainer(trainer, ofTrainer, environment, shared) },
    { run: (ofCollector) => runCollector(collector, ofCollector, environment, shared) },
  ];
  if (validator !== null)
    parts.push({
      // Until then every millisecond is the first update's.
      isLate: true,
      run: async (ofValidator) => {
        if (await untilUpdated(log, validator.runId, ofValidator.signal))
          await runValidator(validator, ofValidator, shared);
      },
    });
  try {
    await runTogether(parts, supervised);
  } finally {
    shared.offered.withdraw();
    await log.close();
  }
}

/** Waits until the run has an update, or has ended. Resolves to false where the signal aborts first. */
async function untilUpdated(log: EventLog, runId: string, signal: AbortSignal): Promise<boolean> {
  const control = new ControlTail(log);
  try {
    while (!signal.aborted) {
      await control.catchUp();
      const { updates, ended } = control.run(runId);
      if (updates.lastUpdate !== null || ended !== null) return true;
      await control.changed(signal);
    }
    return false;
  } finally {
    control.close();
  }
}
