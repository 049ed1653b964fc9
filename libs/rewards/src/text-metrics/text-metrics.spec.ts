import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  editDistance,
  editSimilarity,
  exactMatch,
  mathAnswersAgree,
  normalizeAnswer,
  numbersAgree,
  parseNumber,
  rougeL,
  sentenceBleu,
  tokenF1,
} from '../index.js';

interface Golden {
  readonly tolerance: number;
  readonly cases: readonly {
    prediction: string;
    references: string[];
    bleu: number;
    rougeL: number;
    editDistances: number[];
  }[];
  readonly mathAnswers: readonly { answer: string; reference: string; agree: boolean }[];
}
const goldenFile = new URL('../../../../test/golden/rewards/text-metrics.json', import.meta.url);
const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden;

describe('text metrics agree with sacrebleu, rouge-score and rapidfuzz', () => {
  it.each(golden.cases.map((c) => [c.prediction, c.references, c] as const))(
    '%j against %j',
    (prediction, references, expected) => {
      expect(Math.abs(sentenceBleu(prediction, references) - expected.bleu)).toBeLessThan(golden.tolerance);
      const rouge = Math.max(...references.map((reference) => rougeL(prediction, reference)));
      expect(Math.abs(rouge - expected.rougeL)).toBeLessThan(golden.tolerance);
      expect(references.map((reference) => editDistance(prediction, reference))).toEqual(
        expected.editDistances,
      );
    },
  );
});

describe('answers in LaTeX', () => {
  it.each(golden.mathAnswers.map((c) => [c.answer, c.reference, c.agree] as const))(
    "%j and %j agree as in verl's MATH reward: %s",
    (answer, reference, agree) => {
      expect(mathAnswersAgree(answer, reference)).toBe(agree);
    },
  );

  it('are compared in their boxes, and with a space behind \\sqrt, where the reference loses its argument', () => {
    expect(mathAnswersAgree('So it is \\boxed{\\frac{1}{\\sqrt 2}}.', '\\boxed{\\frac1{\\sqrt{2}}}')).toBe(
      true,
    );
    expect(mathAnswersAgree('\\sqrt 3', '\\sqrt 5')).toBe(false);
  });
});

it('edit similarity is 1 for equal texts, also empty ones, and 0 where nothing is shared', () => {
  // kitten → sitting: two replacements and an insertion, of seven characters.
  expect(editSimilarity('kitten', 'sitting')).toBeCloseTo(1 - 3 / 7, 12);
  expect(editSimilarity('', '')).toBe(1);
  expect(editSimilarity('abc', '')).toBe(0);
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

  // What Python's `re` makes of them, whose \b knows the letters and digits of all scripts.
  it.each([
    ['España', 'españa'],
    ['la España grande', 'la españa grande'],
    ['a ñandú', 'ñandú'],
    ['Bā the é a á', 'bā é á'],
    ['Ünthe à', 'ünthe à'],
    ['the² a', 'the²'],
    ['the_a an', 'thea'],
  ])('take articles out as whole words of any script: %s', (text, normal) => {
    expect(normalizeAnswer(text)).toBe(normal);
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
