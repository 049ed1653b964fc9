import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exactMatch, normalizeAnswer, numbersAgree, parseNumber, tokenF1 } from '../index.js';

interface Golden {
  readonly tolerance: number;
  readonly texts: readonly {
    prediction: string;
    reference: string;
    normal: string;
    exact: number;
    f1: number;
  }[];
  readonly numbers: readonly { answer: string; reference: string; agree: boolean }[];
}
const goldenFile = new URL('../../../../test/golden/rewards/answers.json', import.meta.url);
const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden;

describe("answers are compared as by SQuAD's own script", () => {
  it.each(golden.texts.map((c) => [c.prediction, c.reference, c] as const))(
    '%j against %j',
    (prediction, reference, expected) => {
      expect(normalizeAnswer(prediction)).toBe(expected.normal);
      expect(exactMatch(prediction, reference)).toBe(expected.exact);
      expect(Math.abs(tokenF1(prediction, reference) - expected.f1)).toBeLessThan(golden.tolerance);
    },
  );
});

/** Equal numbers that math-verify does not find equal: it reads no bare LaTeX that it has no value for, no sign +, and all boxes. */
const FOUND_HERE_ALONE = new Set(['\\dfrac{3}{4}', '\\boxed{7} no, \\boxed{8}', '+7']);

describe('numbers agree as by math-verify, or for a stated reason', () => {
  it.each(golden.numbers.map((c) => [c.answer, c.reference, c] as const))(
    '%j and %j',
    (answer, reference, { agree }) => {
      const [value, expected] = [parseNumber(answer), parseNumber(reference)];
      const found =
        value !== null &&
        expected !== null &&
        numbersAgree(value, expected, { absolute: 1e-6, relative: 1e-6 });
      expect(found).toBe(agree || FOUND_HERE_ALONE.has(answer));
    },
  );
});
