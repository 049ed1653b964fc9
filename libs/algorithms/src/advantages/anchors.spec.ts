import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberAnchors, numberSimilarAnchors, textSimilarity } from '../index.js';
import { catchFault } from '../testing/invalid.js';

describe('numberAnchors', () => {
  it('gives equal states the same number, and −1 to a step without a state', () => {
    expect([...numberAnchors(['b', null, 'a', 'b'])]).toEqual([0, -1, 1, 0]);
  });
});

describe('textSimilarity', () => {
  it('is twice the length of the longest common subsequence divided by the sum of the lengths', () => {
    // longest common subsequence of 'kitten' and 'sitting' is 'ittn'
    expect(textSimilarity('kitten', 'sitting')).toBeCloseTo(8 / 13, 12);
    expect(textSimilarity('', '')).toBe(1);
    expect(textSimilarity('abc', '')).toBe(0);
  });

  it('agrees with the usual dynamic-programming table, also for texts longer than 32 characters', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é'), maxLength: 90, size: 'max' });
    fc.assert(
      fc.property(letters, letters, (a, b) => {
        let above = new Array<number>(b.length + 1).fill(0);
        for (const letter of a) {
          const row = [0];
          for (let j = 1; j <= b.length; j++)
            row[j] = letter === b[j - 1] ? above[j - 1] + 1 : Math.max(above[j], row[j - 1]);
          above = row;
        }
        const total = a.length + b.length;
        expect(textSimilarity(a, b)).toBeCloseTo(total === 0 ? 1 : (2 * above[b.length]) / total, 12);
      }),
    );
  });

  it('is symmetric, and 1 only for equal texts', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        expect(textSimilarity(a, b)).toBe(textSimilarity(b, a));
        expect(textSimilarity(a, b) === 1).toBe(a === b);
      }),
    );
  });
});

describe('numberSimilarAnchors', () => {
  const numbersOf = (
    anchors: readonly (string | null)[],
    threshold: number,
    groups?: readonly number[],
  ): number[] => [
    ...numberSimilarAnchors({
      anchors,
      groupOfStep: Int32Array.from(groups ?? anchors.map(() => 0)),
      threshold,
    }).anchors,
  ];

  it('joins states through others that are similar to both', () => {
    // neighbours share 9 of 10 letters, the ends 8 of 10
    const chain = ['abcdefghij', 'abcdefghiX', 'abcdefghYX'];
    expect(numbersOf(chain, 0.9)).toEqual([0, 0, 0]);
    expect(numbersOf([chain[0], chain[2]], 0.9)).toEqual([0, 1]);
  });

  it('never joins states of different groups, and leaves out steps without a state', () => {
    expect(numbersOf(['aaaa', 'aaaa', null, 'aaab'], 0.7, [0, 1, 0, 0])).toEqual([0, 1, -1, 0]);
  });

  it('joins only equal states at threshold 1, and all states of a group at 0', () => {
    expect(numbersOf(['a', 'b', 'a'], 1)).toEqual([0, 1, 0]);
    expect(numbersOf(['a', 'b', 'c'], 0)).toEqual([0, 0, 0]);
  });

  it('joins the same states whatever their order', () => {
    const state = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(state, { maxLength: 8 }), (states) => {
        const forward = numbersOf(states, 0.7);
        const backward = numbersOf([...states].reverse(), 0.7).reverse();
        states.forEach((_, a) => {
          states.forEach((_, b) => {
            expect(forward[a] === forward[b]).toBe(backward[a] === backward[b]);
          });
        });
      }),
    );
  });

  it('compares groups with too much text only for equality, reports how many, and takes bounded time', () => {
    const state = (k: number) => `${'ab'.repeat(200)}${String(k).padStart(4, '0')}`;
    const large = Array.from({ length: 400 }, (_, k) => state(k));
    const anchors = [...large, large[0], 'abcdefghij', 'abcdefghiX'];
    const groupOfStep = Int32Array.from(anchors, (_, k) => Number(k > 400));
    const numbered = numberSimilarAnchors({ anchors, groupOfStep, threshold: 0.9 });
    expect(numbered.numUncomparedGroups).toBe(1);
    expect(new Set(numbered.anchors.slice(0, 400)).size).toBe(400);
    expect(numbered.anchors[400]).toBe(numbered.anchors[0]);
    // The other group is compared as ever.
    expect(numbered.anchors[402]).toBe(numbered.anchors[401]);
    const few = numberSimilarAnchors({
      anchors: large.slice(0, 9),
      groupOfStep: new Int32Array(9),
      threshold: 0.9,
    });
    expect(few).toEqual({ anchors: new Int32Array(9), numUncomparedGroups: 0 });
  });

  it('refuses a threshold over 1', () => {
    expect(catchFault(() => numbersOf(['a'], 2)).message).toBe('threshold is 2, must be in [0, 1]');
  });
});
