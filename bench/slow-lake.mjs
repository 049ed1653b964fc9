/** Frozen lake whose every step takes some time without a processor, as that of a server elsewhere does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getEnvironment } from '@retrace/environments';

/** @param {{ stepMs?: number }} options */
export default function slowLake({ stepMs = 20 } = {}) {
  const lake = getEnvironment('frozen-lake');
  return {
    ...lake,
    name: 'slow-lake',
    description: `${lake.description}, ${stepMs} ms a step`,
    create() {
      const environment = lake.create();
      return {
        reset: (options) => environment.reset(options),
        async step(action) {
          await sleep(stepMs);
          return environment.step(action);
        },
        close: () => environment.close(),
      };
    },
  };
}
