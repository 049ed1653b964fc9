import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import { drawImportanceWeights, LEAST_PRIORITY, priorityWeight } from './priorities.js';
import { SumTree } from './sum-tree.js';
import { drawByWeight, inclusionProbabilities } from './weighted-draw.js';

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

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function standardErrorOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)) / values.length);
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
    const { items, weights, nextTime } = drawByWeight(tree, 9, () => random.nextFloat());
    expect([...items].sort()).toEqual([0, 2, 3]);
    expect([...weights].sort()).toEqual([1, 2, 3]);
    expect(nextTime).toBe(Infinity);
    expect([...inclusionProbabilities(weights, nextTime)]).toEqual([1, 1, 1]);
    expect([tree.total, tree.numPositive, tree.get(2)]).toEqual([6, 3, 3]);
  });
});

describe('prioritized replay', () => {
  it('weighs an error by (|error| + ε)^α: at 0 all alike, at 1 in proportion', () => {
    expect([priorityWeight(-3, 0), priorityWeight(0, 0)]).toEqual([1, 1]);
    expect(priorityWeight(-3, 1)).toBeCloseTo(3 + LEAST_PRIORITY, 12);
    expect(priorityWeight(4, 0.5)).toBeCloseTo(Math.sqrt(4 + LEAST_PRIORITY), 12);
  });

  it('gives importance weights π^−β / max, worked out by hand', () => {
    // 1/π = 2 and 8, of which the largest is 8.
    const probabilities = Float64Array.of(1 / 2, 1 / 8);
    expect([...drawImportanceWeights(probabilities, 1)]).toEqual([1 / 4, 1]);
    expect([...drawImportanceWeights(probabilities, 0.5)]).toEqual([1 / 2, 1]);
    expect([...drawImportanceWeights(probabilities, 0)]).toEqual([1, 1]);
  });

  it.each([1, 2, 3, 4])('of %i of 4 items makes sums over them the sums over all on average', (count) => {
    const [values, priorities] = [
      [10, -4, 3, 1],
      [1, 2, 4, 1],
    ];
    const tree = new SumTree(priorities);
    const random = new Pcg32(4);
    const nextFloat = () => random.nextFloat();
    const sums = Array.from({ length: NUM_DRAWS }, () => {
      const { items, weights, nextTime } = drawByWeight(tree, count, nextFloat);
      const probabilities = inclusionProbabilities(weights, nextTime);
      return items.reduce((sum, item, k) => sum + values[item] / probabilities[k], 0);
    });
    expect(Math.abs(meanOf(sums) - 10)).toBeLessThanOrEqual(4 * standardErrorOf(sums));
  });

  it('of a draw that goes on where items were left out does the same as one draw', () => {
    // The first of each draw is left out, as a group whose returns are all equal, and another takes its place.
    const priorities = [1, 2, 4, 1, 3];
    const values = [10, -4, 3, 1, 6];
    const tree = new SumTree(priorities);
    const random = new Pcg32(5);
    const nextFloat = () => random.nextFloat();
    const errors = Array.from({ length: NUM_DRAWS }, () => {
      const first = drawByWeight(tree, 2, nextFloat);
      for (const item of first.items) tree.set(item, 0);
      const more = drawByWeight(tree, 1, nextFloat, first.times[1]);
      for (const item of first.items) tree.set(item, priorities[item]);
      const items = [...first.items, ...more.items];
      const weights = Float64Array.of(...first.weights, ...more.weights);
      const probabilities = inclusionProbabilities(weights, more.nextTime);
      return items.reduce((sum, item, k) => sum + values[item] / probabilities[k], 0) - 16;
    });
    expect(Math.abs(meanOf(errors))).toBeLessThan(4 * standardErrorOf(errors));
  });

  it('weighs items of the same priority alike, and all of them where all are drawn', () => {
    const random = new Pcg32(6);
    const weightsFor = (priorities: readonly number[], count: number) => {
      const { weights, nextTime } = drawByWeight(new SumTree(priorities), count, () => random.nextFloat());
      return [...drawImportanceWeights(inclusionProbabilities(weights, nextTime), 1)];
    };
    expect(weightsFor([2, 2, 2, 2], 3)).toEqual([1, 1, 1]);
    expect(weightsFor([1, 5, 20, 100], 4)).toEqual([1, 1, 1, 1]);
  });

  it.each([
    [() => priorityWeight(Number.NaN, 1), '|error| is NaN, must be a finite number ≥ 0'],
    [() => priorityWeight(1, -1), 'exponent is -1, must be a finite number ≥ 0'],
    [
      () => drawImportanceWeights(Float64Array.of(0), 1),
      'probabilities[0] is 0, must be above 0 and at most 1',
    ],
  ])('refuses %s', (act, message) => {
    expect(act).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message }));
  });
});
