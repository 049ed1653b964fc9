import { pick } from '@retrace/random';
import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { MARKS, WORD_LENGTH, markGuess } from './marks.js';
import { Wordle } from './wordle.js';
import { WORDLE_WORDS } from './wordle-words.js';

/** Marks of a whole guess as a number below 3⁵. */
const NUM_PATTERNS = MARKS.length ** WORD_LENGTH;

/** A random word of the list. */
export const wordleRandom: ScriptedAgent = {
  name: 'random',
  act: (_environment, _observation, random) => spell(pick(WORDLE_WORDS, random)),
};

/** A random one of the words that fit all marks. */
export const wordleConsistent: ScriptedAgent = {
  name: 'consistent',
  act: (environment, _observation, random) =>
    spell(WORDLE_WORDS[pick(candidates(asWordle(environment)), random)]),
};

/**
 * Guesses the word of the list whose marks divide the words that still fit most evenly: the one with the least expected number of words left,
 * and of equal ones the first that fits itself. It guesses a word that fits when only two are left, or in the last turn. It
 * reads guesses and marks only. This is a greedy choice: a search of the whole tree could need fewer guesses.
 */
export const wordleExpert: ScriptedAgent = {
  name: 'expert',
  act(environment) {
    const wordle = asWordle(environment);
    const fitting = candidates(wordle);
    if (fitting.length <= 2 || wordle.numTurnsLeft === 1) return spell(WORDLE_WORDS[fitting[0]]);
    if (fitting.length < WORDLE_WORDS.length) return spell(WORDLE_WORDS[mostDividing(fitting)]);
    firstGuess ??= mostDividing(fitting);
    return spell(WORDLE_WORDS[firstGuess]);
  },
};

let firstGuess: number | null = null;
let patterns: Uint8Array | null = null;

/** Pattern of each guess for each secret, `[guess * words + secret]`, computed at the first use. */
function patternTable(): Uint8Array {
  if (patterns !== null) return patterns;
  const numWords = WORDLE_WORDS.length;
  patterns = new Uint8Array(numWords * numWords);
  for (let guess = 0; guess < numWords; guess++) {
    for (let secret = 0; secret < numWords; secret++) {
      patterns[guess * numWords + secret] = encodePattern(
        markGuess(WORDLE_WORDS[secret], WORDLE_WORDS[guess]),
      );
    }
  }
  return patterns;
}

function encodePattern(marks: readonly string[]): number {
  return marks.reduce((code, mark) => code * MARKS.length + MARKS.indexOf(mark as (typeof MARKS)[number]), 0);
}

/** Places in the list of the words that fit all marks. The secret always does. */
function candidates(wordle: Wordle): readonly number[] {
  const table = patternTable();
  const numWords = WORDLE_WORDS.length;
  const known = wordle.known.map(({ guess, marks }) => ({
    row: WORDLE_WORDS.indexOf(guess) * numWords,
    pattern: encodePattern(marks),
  }));
  return [...WORDLE_WORDS.keys()].filter((word) =>
    known.every(({ row, pattern }) => table[row + word] === pattern),
  );
}

function mostDividing(fitting: readonly number[]): number {
  const table = patternTable();
  const counts = new Uint16Array(NUM_PATTERNS);
  const fits = new Set(fitting);
  let best = fitting[0];
  let least = Number.POSITIVE_INFINITY;
  for (const guess of WORDLE_WORDS.keys()) {
    counts.fill(0);
    for (const secret of fitting) counts[table[guess * WORDLE_WORDS.length + secret]] += 1;
    // Half a word less decides between equal sums only, since sums are whole numbers.
    const left = counts.reduce((sum, count) => sum + count * count, 0) - (fits.has(guess) ? 0.5 : 0);
    if (left >= least) continue;
    least = left;
    best = guess;
  }
  return best;
}

function spell(word: string): string {
  return [...word].join(' ');
}

function asWordle(environment: Environment): Wordle {
  if (environment instanceof Wordle) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays wordle only');
}
