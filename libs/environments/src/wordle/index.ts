import { deriveSeed, Pcg32 } from '@retrace/random';
import { defineEnvironment } from '../registry.js';
import { splitOf } from '../task-split.js';
import { wordleConsistent, wordleExpert, wordleRandom } from './wordle-agents.js';
import { WORDLE_WORDS } from './wordle-words.js';
import { NUM_GUESSES, WORDLE_VOCABULARY, Wordle } from './wordle.js';

/** A secret for each task. Held-out secrets are words that were guessed in training, but never asked for. */
export const wordle = defineEnvironment({
  name: 'wordle',
  description: `Guess a secret word of five letters in ${NUM_GUESSES} turns; each guess is marked letter by letter`,
  maxSteps: NUM_GUESSES,
  words: WORDLE_VOCABULARY,
  actionWords: null,
  splitsAreDisjoint: true,
  offersAnchors: true,
  create: () => new Wordle(),
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('wordle', seed, split, index);
    const random = new Pcg32(taskSeed);
    for (;;) {
      const secret = WORDLE_WORDS[random.nextBelow(WORDLE_WORDS.length)];
      if (splitOf(secret) === split) return { task: { secret }, seed: taskSeed };
    }
  },
  agents: [wordleRandom, wordleConsistent, wordleExpert],
});
