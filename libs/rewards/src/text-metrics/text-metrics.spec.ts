import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  exactMatch,
  normalizeAnswer,
  numbersAgree,
  parseNumber,
  rougeL,
  sentenceBleu,
  tokenF1,
} from '../index.js';

interface Golden {
  readonly tolerance: number;
  readonly cases: readonly { prediction: string; references: string[]; bleu: number; rougeL: number }[];
}
const goldenFile = new URL('../../../../test/golden/rewards/text-metrics.json', import.meta.url);
const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden;

describe('text metrics agree with sacrebleu and rouge-score', () => {
  it.each(golden.cases.map((c) => [c.prediction, c.references, c] as const))(
    '%j against %j',
    (prediction, references, expected) => {
      expect(Math.abs(sentenceBleu(prediction, references) - expected.bleu)).toBeLessThan(golden.tolerance);
      const rouge = Math.max(...references.map((reference) => rougeL(prediction, reference)));
      expect(Math.abs(rouge - expected.rougeL)).toBeLessThan(golden.tolerance);
    },
  );
});

it('BLEU refuses to compare with nothing', () => {
  expect(() => sentenceBleu('text', [])).toThrowError('references is empty');
});

describe("SQuAD's answer metrics", () => {
  it('compare without case, punctuation, articles and extra spaces', () => {
    expect(normalizeAnswer('  The "Cat", an  animal! ')).toBe('cat animal');
    expect(exactMatch('The cat.', 'a CAT')).toBe(1);
    expect(exactMatch('cats', 'cat')).toBe(0);
  });

  it('F1 counts each word as often as both have it', () => {
    // cat cat dog against cat dog dog bird: shared cat, dog: 2·2/(3 + 4)
    expect(tokenF1('cat cat dog', 'cat dog dog bird')).toBeCloseTo(4 / 7, 12);
    expect(tokenF1('', 'the')).toBe(1);
    expect(tokenF1('', 'cat')).toBe(0);
  });
});

describe('parseNumber', () => {
  it.each<[string, number]>([
    ['42', 42],
    [' -3.5 ', -3.5],
    ['1,234,567.5', 1234567.5],
    ['$1,000', 1000],
    ['12.5%', 0.125],
    ['12.5\\%', 0.125],
    ['3/4', 0.75],
    ['\\frac{3}{4}', 0.75],
    ['-\\dfrac{1}{2}', -0.5],
    ['so the answer is \\boxed{\\frac{1}{8}}.', 0.125],
    ['\\boxed{1} no, \\boxed{2}', 2],
    ['6.02e23', 6.02e23],
    ['7.', 7],
    ['1\\,000', 1000],
  ])('reads %j as %f', (text, expected) => {
    expect(parseNumber(text)).toBeCloseTo(expected, 12);
  });

  it.each(['', 'seven', '1 or 2', '1/2/3', '1/0', 'x = 3', '1,23', '\\boxed{'])(
    'finds no number in %j',
    (text) => {
      expect(parseNumber(text)).toBeNull();
    },
  );

  it('agrees within absolute plus relative tolerance', () => {
    const tolerance = { absolute: 0.01, relative: 0.1 };
    expect(numbersAgree(11, 10, tolerance)).toBe(true);
    expect(numbersAgree(11.02, 10, tolerance)).toBe(false);
  });
});
