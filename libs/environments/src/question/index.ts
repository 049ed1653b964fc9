import { deriveSeed, Pcg32 } from '@retrace/random';
import type { EnvironmentSpec, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { defineEnvironment } from '../registry.js';
import { splitOf } from '../task-split.js';
import { Question } from './question.js';

export { questionFault } from './question.js';

const MAX_SUMMAND = 99;

/** Answers with a number that a sum of two numbers can have. */
const randomNumber: ScriptedAgent = {
  name: 'random',
  act: (_, __, random) => `${2 + Math.floor(random() * (2 * MAX_SUMMAND - 1))}`,
};

/** Answers with the reference, of which the environment's snapshot tells. */
const expert: ScriptedAgent = {
  name: 'expert',
  act(environment) {
    if (!(environment instanceof Question)) {
      throw new EnvironmentError('WRONG_ENVIRONMENT', 'the expert answers the environment "question" only');
    }
    return environment.reference;
  },
};

/** One question and its answer. The tasks are rows of a recipe's `tasks`; without them, sums of two numbers. */
export const question: EnvironmentSpec = defineEnvironment({
  name: 'question',
  description:
    'one question from a row of a file, or without files a sum of two numbers; the answer ends the episode',
  maxSteps: 1,
  words: null,
  actionWords: null,
  offersAnchors: false,
  splitsAreDisjoint: true,
  create: () => new Question(),
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('question', seed, split, index);
    const random = new Pcg32(taskSeed);
    for (;;) {
      const [a, b] = [1 + random.nextBelow(MAX_SUMMAND), 1 + random.nextBelow(MAX_SUMMAND)];
      const content = `${Math.min(a, b)} + ${Math.max(a, b)}`;
      if (splitOf(content) !== split) continue;
      const task = {
        data_source: 'sums',
        prompt: [{ role: 'user', content: `What is ${a} + ${b}?` }],
        ability: 'math',
        reward_model: { style: 'rule', ground_truth: `${a + b}` },
        extra_info: { split, index },
      };
      return { task, seed: taskSeed };
    }
  },
  agents: [randomNumber, expert],
});
