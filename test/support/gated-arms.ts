/** The bandit, of which a number of episodes is played at once and the others wait for a file. So a test has a run that does not end before it says so. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EnvironmentSpec, ResetOptions } from '@retrace/environments';
import { bandit } from '@retrace/environments';

interface Options {
  readonly numFree: number;
  /** While it is missing, no further episode begins. */
  readonly openedBy: string;
}

/** Of all instances in this process. */
let numStarted = 0;

export default ({ numFree, openedBy }: Options): EnvironmentSpec => ({
  ...bandit,
  name: 'gated-arms',
  agents: bandit.agents.filter(({ name }) => name === 'random'),
  create: () => {
    const arms = bandit.create();
    return {
      reset: async (options: ResetOptions) => {
        numStarted += 1;
        if (numStarted > numFree) while (!existsSync(openedBy)) await sleep(100);
        return arms.reset(options);
      },
      step: (action: string) => arms.step(action),
      close: () => arms.close?.(),
    };
  },
});
