import { pick } from '@retrace/random';
import type { Environment, Observation, ScriptedAgent } from '../environment.js';
import { PULL_ARMS, type PullArm } from './memory-bandit.js';

/** An agent's memory of a running episode. */
interface Memory {
  arm: PullArm;
  /** How many pulls spoke for `alpha` minus how many spoke for `beta`. */
  evidenceForAlpha: number;
}

/**
 * Makes an agent that remembers its episode, one memory per environment instance: the observation `start`
 * begins a new one. `choose` gets the memory after the last pull's outcome was added.
 */
function rememberingAgent(
  name: string,
  choose: (memory: Memory, paid: boolean) => PullArm | null,
): ScriptedAgent {
  const memories = new WeakMap<Environment, Memory>();
  return {
    name,
    act(environment, observation, random) {
      const memory = memories.get(environment);
      if (memory === undefined || observation.text === 'start') {
        const first = { arm: pick(PULL_ARMS, random), evidenceForAlpha: 0 };
        memories.set(environment, first);
        return first.arm;
      }
      const paid = hasPaid(observation);
      memory.evidenceForAlpha += (memory.arm === 'alpha') === paid ? 1 : -1;
      memory.arm = choose(memory, paid) ?? pick(PULL_ARMS, random);
      return memory.arm;
    },
  };
}

/** Stays with an arm that paid, leaves one that did not. */
export const winStayLoseShift = rememberingAgent('win-stay-lose-shift', ({ arm }, paid) =>
  paid ? arm : other(arm),
);

/**
 * The optimum. The arms are complementary, so each pull, of whichever arm, shifts the log odds by the same
 * ±log 9: knowledge does not depend on the arm that is pulled, and the likelier arm is always the best pull.
 */
export const memoryBanditExpert = rememberingAgent('expert', ({ evidenceForAlpha }) => {
  if (evidenceForAlpha === 0) return null;
  return evidenceForAlpha > 0 ? 'alpha' : 'beta';
});

function hasPaid(observation: Observation): boolean {
  return observation.text === 'paid';
}

function other(arm: PullArm): PullArm {
  return arm === 'alpha' ? 'beta' : 'alpha';
}
