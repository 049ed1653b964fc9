import { deriveSeed, Pcg32 } from '@retrace/random';
import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { randomAgent, randomVocabularyAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { splitOf } from '../task-split.js';
import { ARM_NAMES, HIGH_ARM_NAMES, LOW_ARM_NAMES, isHighArm } from './arms.js';
import { Bandit } from './bandit.js';

const WORDS: readonly string[] = ['choose', 'or', ...ARM_NAMES];

/** Chooses the high arm. */
const banditExpert: ScriptedAgent = {
  name: 'expert',
  act: (environment) => asBandit(environment).arms.filter(isHighArm)[0],
};

/** Two named arms; names and their order are the task, so held-out episodes show pairs that training never did. */
export const bandit = defineEnvironment({
  name: 'bandit',
  description: 'Two named arms, one choice: the steady low one, or the risky one that pays more on average',
  maxSteps: 1,
  words: WORDS,
  actionWords: ARM_NAMES,
  splitsAreDisjoint: true,
  offersAnchors: true,
  create: () => new Bandit(),
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('bandit', seed, split, index);
    const random = new Pcg32(taskSeed);
    for (;;) {
      const high = HIGH_ARM_NAMES[random.nextBelow(HIGH_ARM_NAMES.length)];
      const low = LOW_ARM_NAMES[random.nextBelow(LOW_ARM_NAMES.length)];
      const arms = random.nextBelow(2) === 0 ? [high, low] : [low, high];
      if (splitOf(arms.join('|')) === split) return { task: { arms }, seed: taskSeed };
    }
  },
  agents: [randomAgent(ARM_NAMES), randomVocabularyAgent(WORDS), banditExpert],
});

function asBandit(environment: Environment): Bandit {
  if (environment instanceof Bandit) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays the bandit only');
}
