import { runCollector } from '@retrace/collector';
import { openLog } from '@retrace/log';
import { OfferedPolicy } from '@retrace/policy';
import { readCollectorConfig, readTrainerConfig, type RoleMessage, type Supervised } from '@retrace/process';
import { runTrainer } from '@retrace/trainer';
import { KnownEvents } from '@retrace/trajectory/codec';

type ReadyMessage = Extract<RoleMessage, { type: 'ready' }>;

/**
 * Trainer and collector of a run in this process, until the run ends or the process is asked to stop: the same two as in processes of their own,
 * around one log and one TensorFlow. The trainer offers each policy to the collector as soon as it is made. Where one of them fails, both end.
 */
export async function runColocated(environment: NodeJS.ProcessEnv, supervised: Supervised): Promise<void> {
  const trainerConfig = readTrainerConfig(environment);
  const { metricsAddress } = trainerConfig;
  // The collector's metrics are at the port after the trainer's, as in a process of its own.
  const collectorConfig = {
    ...readCollectorConfig(environment),
    metricsAddress: metricsAddress && {
      ...metricsAddress,
      port: metricsAddress.port && metricsAddress.port + 1,
    },
  };
  const failed = new AbortController();
  const [ofTrainer, ofCollector] = readyTogether(supervised, failed.signal);
  const log = await openLog(trainerConfig.log, 'trainer');
  const shared = { log, offered: new OfferedPolicy(), known: new KnownEvents() };
  const endBoth = (error: unknown): never => {
    failed.abort();
    throw error;
  };
  const [trained, collected] = await Promise.allSettled([
    runTrainer(trainerConfig, ofTrainer, environment, shared).catch(endBoth),
    runCollector(collectorConfig, ofCollector, environment, shared).catch(endBoth),
  ]);
  shared.offered.withdraw();
  await log.close();
  for (const part of [trained, collected]) if (part.status === 'rejected') throw part.reason;
}

/** Gives each of two parts its view of the supervisor, which is told that the process is ready once both are. */
function readyTogether(supervised: Supervised, failed: AbortSignal): [Supervised, Supervised] {
  const signal = AbortSignal.any([supervised.signal, failed]);
  const ready: ReadyMessage[] = [];
  const send = (message: RoleMessage): void => {
    if (message.type !== 'ready') {
      supervised.send(message);
      return;
    }
    ready.push(message);
    if (ready.length === 2)
      supervised.send({
        type: 'ready',
        detail: [...new Set(ready.map(({ detail = '' }) => detail))].join('; '),
      });
  };
  return [
    { ...supervised, signal, send },
    { ...supervised, signal, send },
  ];
}
