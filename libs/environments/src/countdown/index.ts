import { deriveSeed, Pcg32 } from '@retrace/random';
import type { Environment, EnvironmentSpec, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { defineEnvironment } from '../registry.js';
import { requireInteger } from '../require-integer.js';
import { splitOf } from '../task-split.js';
import { OPERATORS } from './arithmetic.js';
import { combineAtRandom, solveCountdown } from './combine-numbers.js';
import { MAX_NUMBERS, taskContent } from './countdown-task.js';
import { Countdown } from './countdown.js';

export interface CountdownRules {
  readonly name: string;
  /** How many numbers a task has (default 3). */
  readonly numNumbers?: number;
  /** Largest number (default 10). */
  readonly maxNumber?: number;
  /** Largest target (default 100). */
  readonly maxTarget?: number;
}

/**
 * Makes a countdown whose tasks all have a solution; give it to `defineEnvironment`. Whether a task is for training or held out depends on
 * its target and numbers, whatever their order.
 *
 * @throws EnvironmentError `INVALID_ARGUMENT` unless numNumbers is 2 to 5, maxNumber 2 to 99 and maxTarget maxNumber to 999
 */
export function countdownSpec(rules: CountdownRules): EnvironmentSpec {
  const { name, numNumbers = 3, maxNumber = 10, maxTarget = 100 } = rules;
  requireInteger('numNumbers', numNumbers, { least: 2, most: MAX_NUMBERS });
  requireInteger('maxNumber', maxNumber, { least: 2, most: 99 });
  requireInteger('maxTarget', maxTarget, { least: maxNumber, most: 999 });
  const numbers = Array.from({ length: maxTarget }, (_, i) => `${i + 1}`);
  return {
    name,
    description: `${numNumbers} numbers up to ${maxNumber}: combine them into a target of at most ${maxTarget}, each used once`,
    maxSteps: 1,
    words: [...OPERATORS, '(', ')', 'target', 'numbers', ...numbers],
    actionWords: null,
    splitsAreDisjoint: true,
    offersAnchors: true,
    create: () => new Countdown({ maxNumber, maxTarget }),
    sampleTask({ split, index, seed }) {
      const taskSeed = deriveSeed(name, seed, split, index);
      const random = new Pcg32(taskSeed);
      for (;;) {
        const nums = Array.from({ length: numNumbers }, () => 1 + random.nextBelow(maxNumber));
        const target = combineAtRandom(nums, random).value;
        if (!Number.isInteger(target) || target < 1 || target > maxTarget) continue;
        if (splitOf(taskContent({ nums, target })) === split)
          return { task: { nums, target }, seed: taskSeed };
      }
    },
    agents: [randomExpression, countdownExpert],
  };
}

/** A random expression that uses each number once. */
const randomExpression: ScriptedAgent = {
  name: 'random',
  act(environment, _observation, random) {
    const nextBelow = (bound: number): number => Math.floor(random() * bound);
    return combineAtRandom(asCountdown(environment).task.nums, { nextBelow }).text;
  },
};

/** Tries all expressions; a random one where none hits the target, which no drawn task has. */
const countdownExpert: ScriptedAgent = {
  name: 'expert',
  act: (environment, observation, random) =>
    solveCountdown(asCountdown(environment).task) ?? randomExpression.act(environment, observation, random),
};

/** Three numbers up to 10, targets up to 100. */
export const countdown = defineEnvironment(countdownSpec({ name: 'countdown' }));

/** Three numbers up to 20: some five times as many tasks, too many for a small policy to learn by heart. */
export const countdownWide = defineEnvironment(countdownSpec({ name: 'countdown-wide', maxNumber: 20 }));

/** Four numbers up to 25, targets up to 999. */
export const countdownFour = defineEnvironment(
  countdownSpec({ name: 'countdown-four', numNumbers: 4, maxNumber: 25, maxTarget: 999 }),
);

function asCountdown(environment: Environment): Countdown {
  if (environment instanceof Countdown) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays countdown only');
}
