import { exactMatch } from './answers.js';
import { mathAnswersAgree } from './math-answers.js';
import { numbersAgree, parseNumber } from './numbers.js';

const TOLERANCE = { absolute: 1e-6, relative: 1e-6 };

/** Whether a text is a number, in any of the spellings of `parseNumber`. */
export function statesNumber(text: string): boolean {
  return parseNumber(text) !== null;
}

/**
 * Whether an answer agrees with a reference in the normal form of MATH, or as a number where the reference is one, else in the normal
 * form of SQuAD.
 */
export function answersAgree(answer: string, reference: string): boolean {
  if (mathAnswersAgree(answer, reference)) return true;
  const expected = parseNumber(reference);
  if (expected === null) return exactMatch(answer, reference) === 1;
  const stated = parseNumber(answer);
  return stated !== null && numbersAgree(stated, expected, TOLERANCE);
}
