import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/environments';
import { drawImportanceWeights, LEAST_PRIORITY, priorityWeight } from './priorities.js';
import { SumTree } from './sum-tree.js';
import { drawByWeight } from './weighted-draw.js';

const NUM_DRAWS = 40_000;

/** Largest |frequency − probability| in standard deviations √(p(1 − p)/n). */
function largestDeviation(counts: readonly number[], probabilities: readonly number[]): number {
  return Math.max(
    ...counts.map((count, i) => {
      const p = probabilities[i];
      return Math.abs(count / NUM_DRAWS - p) / Math.sqrt((p * (1 - p)) / NUM_DRAWS);
    }),
  );
}

describe('drawByWeight', () => {
  it('draws single items with probability w/Σw', () => {
    const tree = new SumTree([1, 2, 0, 5]);
    const random = new Pcg32(1);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < NUM_DRAWS; i++) counts[drawByWeight(tree, 1, () => random.nextFloat()).items[0]] += 1;
    expect(counts[2]).toBe(0);
    expect(largestDeviation([counts[0], counts[1], counts[3]], [1 / 8, 2 / 8, 5 / 8])).toBeLessThan(4);
  });

  it('draws pairs of distinct items as successive sampling does', () => {
    // P(a, b) = a/S · b/(S − a): for the weights 1, 2, 5 the six ordered pairs.
    const weights = [1, 2, 5];
    const tree = new SumTree(weights);
    const random = new Pcg32(2);
    const counts = new Map<string, number>();
    for (let i = 0; i < NUM_DRAWS; i++) {
      const pair = drawByWeight(tree, 2, () => random.nextFloat()).items.join();
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
    const pairs = [0, 1, 2].flatMap((a) => [0, 1, 2].filter((b) => b !== a).map((b) => [a, b] as const));
    const expected = pairs.map(([a, b]) => (weights[a] / 8) * (weights[b] / (8 - weights[a])));
    expect(
      largestDeviation(
        pairs.map((pair) => counts.get(pair.join()) ?? 0),
        expected,
      ),
    ).toBeLessThan(4);
  });

  it('gives all items once when asked for more than there are, and leaves the tree as it was', () => {
    const tree = new SumTree([1, 0, 3, 2]);
    const random = new Pcg32(3);
    const { items, probabilities } = drawByWeight(tree, 9, () => random.nextFloat());
    expect([...items].sort()).toEqual([0, 2, 3]);
    expect(probabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
    expect([tree.total, tree.numPositive, tree.get(2)]).toEqual([6, 3, 3]);
  });
});

describe('prioritized replay', () => {
  it('weighs an error by (|error| + ε)^α: at 0 all alike, at 1 in proportion', () => {
    expect([priorityWeight(-3, 0), priorityWeight(0, 0)]).toEqual([1, 1]);
    expect(priorityWeight(-3, 1)).toBeCloseTo(3 + LEAST_PRIORITY, 12);
    expect(priorityWeight(4, 0.5)).toBeCloseTo(Math.sqrt(4 + LEAST_PRIORITY), 12);
  });

  it('gives importance weights (N·P)^−β / max, worked out by hand', () => {
    // N = 4, P = 1/2, 1/8, β = 1: (N·P)^−1 = 1/2 and 2, of which the largest is 2.
    const probabilities = Float64Array.of(1 / 2, 1 / 8);
    expect([...drawImportanceWeights(probabilities, { numItems: 4, exponent: 1 })]).toEqual([1 / 4, 1]);
    expect([...drawImportanceWeights(probabilities, { numItems: 4, exponent: 0.5 })]).toEqual([1 / 2, 1]);
    expect([...drawImportanceWeights(probabilities, { numItems: 4, exponent: 0 })]).toEqual([1, 1]);
  });

  it('makes the weighted mean over prioritized draws the plain mean, at β = 1', () => {
    const [values, weights] = [
      [10, -4, 3, 1],
      [1, 2, 4, 1],
    ];
    const tree = new SumTree(weights);
    const random = new Pcg32(4);
    let [sum, sumWeights] = [0, 0];
    for (let i = 0; i < NUM_DRAWS; i++) {
      const { items, probabilities } = drawByWeight(tree, 1, () => random.nextFloat());
      const weight = 1 / (4 * probabilities[0]);
      sum += weight * values[items[0]];
      sumWeights += weight;
    }
    expect(sum / sumWeights).toBeCloseTo(2.5, 0);
    expect(Math.abs(sum / sumWeights - 2.5)).toBeLessThan(0.15);
  });

  it.each([
    [() => priorityWeight(Number.NaN, 1), '|error| is NaN, must be a finite number ≥ 0'],
    [() => priorityWeight(1, -1), 'exponent is -1, must be a finite number ≥ 0'],
    [
      () => drawImportanceWeights(Float64Array.of(0), { numItems: 1, exponent: 1 }),
      'probabilities[0] is 0, must be above 0 and at most 1',
    ],
    [
      () => drawImportanceWeights(Float64Array.of(0.5, 0.5), { numItems: 1, exponent: 1 }),
      'numItems is 1, must be a whole number ≥ 2',
    ],
  ])('refuses %s', (act, message) => {
    expect(act).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message }));
  });
});
