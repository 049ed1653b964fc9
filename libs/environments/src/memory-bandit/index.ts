import { deriveSeed } from '@retrace/random';
import { randomAgent, randomVocabularyAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { memoryBanditExpert, winStayLoseShift } from './memory-bandit-agents.js';
import { MEMORY_BANDIT_WORDS, MemoryBandit, NUM_PULLS, PULL_ARMS } from './memory-bandit.js';

/** There are two tasks only (which arm is better); held-out episodes differ from training only in luck. */
export const memoryBandit = defineEnvironment({
  name: 'memory-bandit',
  description: 'Two arms, eight pulls: find the better arm by pulling, and remember it',
  maxSteps: NUM_PULLS,
  words: MEMORY_BANDIT_WORDS,
  actionWords: PULL_ARMS,
  splitsAreDisjoint: false,
  offersAnchors: false,
  create: () => new MemoryBandit(),
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('memory-bandit', seed, split, index);
    return { task: { betterArm: PULL_ARMS[taskSeed % PULL_ARMS.length] }, seed: taskSeed };
  },
  agents: [
    randomAgent(PULL_ARMS),
    randomVocabularyAgent(MEMORY_BANDIT_WORDS),
    winStayLoseShift,
    memoryBanditExpert,
  ],
});
