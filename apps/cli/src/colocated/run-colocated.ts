import { runCollector, runValidator } from '@retrace/collector';
import { openLog } from '@retrace/log';
import { OfferedPolicy } from '@retrace/policy';
import type { RoleMessage, Supervised } from '@retrace/process';
import { runTrainer } from '@retrace/trainer';
import { KnownEvents } from '@retrace/trajectory/codec';
import { readColocatedConfig } from './colocated-config.js';

type ReadyMessage = Extract<RoleMessage, { type: 'ready' }>;
type Part = (supervised: Supervised) => Promise<unknown>;

/**
 * Trainer and collector of a run in this process, and its validator where the environment says so, until the run ends or the process is asked to
 * stop: the same as in processes of their own, around one log and one TensorFlow. The trainer offers each policy to the collector as soon as it is
 * made. Where one of them fails, all end.
 */
export async function runColocated(environment: NodeJS.ProcessEnv, supervised: Supervised): Promise<void> {
  const config = readColocatedConfig(environment);
  const log = await openLog(config.trainer.log, 'trainer');
  const shared = { log, offered: new OfferedPolicy(), known: new KnownEvents() };
  const { validator } = config;
  const parts: Part[] = [
    (ofTrainer) => runTrainer(config.trainer, ofTrainer, environment, shared),
    (ofCollector) => runCollector(config.collector, ofCollector, environment, shared),
    ...(validator === null
      ? []
      : [(ofValidator: Supervised) => runValidator(validator, ofValidator, shared)]),
  ];
  const failed = new AbortController();
  const views = readyTogether(supervised, failed.signal, parts.length);
  const ends = await Promise.allSettled(
    parts.map(async (part, index) => {
      try {
        await part(views[index]);
      } catch (error) {
        failed.abort();
        throw error;
      }
    }),
  );
  shared.offered.withdraw();
  await log.close();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Gives each part its view of the supervisor, which is told that the process is ready once all are. */
function readyTogether(supervised: Supervised, failed: AbortSignal, numParts: number): Supervised[] {
  const signal = AbortSignal.any([supervised.signal, failed]);
  const ready: ReadyMessage[] = [];
  const send = (message: RoleMessage): void => {
    if (message.type !== 'ready') {
      supervised.send(message);
      return;
    }
    ready.push(message);
    if (ready.length < numParts) return;
    // All say which backend they compute with.
    const details = new Set(ready.flatMap(({ detail = '' }) => detail.split('; ')));
    supervised.send({ type: 'ready', detail: [...details].join('; ') });
  };
  return Array.from({ length: numParts }, () => ({ ...supervised, signal, send }));
}
