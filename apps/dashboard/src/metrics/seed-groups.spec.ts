import { describe, expect, it } from 'vitest';
import type { RunDetail } from '../api-types/schema';
import { groupSeeds, meanColumns } from './seed-groups';

describe('groupSeeds', () => {
  const run = (
    runId: string,
    recipe: (Readonly<Record<string, unknown>> & { readonly seed: number }) | null,
    name = 'a',
  ) => ({ runId, name, recipe, seed: recipe?.seed ?? 0 }) as RunDetail;

  it('puts runs together whose recipes differ only by seed, engine and processes, of each seed one', () => {
    const runs = [
      run('1', { seed: 1, rate: 2 }),
      run('2', { seed: 1, rate: 3 }),
      run('3', { seed: 2, rate: 2, engine: { kind: 'torch' }, process: {} }),
      run('4', { seed: 1, rate: 2 }, 'b'),
      run('5', null),
      run('6', null),
      run('7', { seed: 2, rate: 2 }),
      run('8', { seed: 3, rate: 2 }),
    ];
    const groups = groupSeeds(runs, (one) => one).map((group) => group.map(({ runId }) => runId));
    expect(groups).toEqual([['1', '3', '8'], ['2'], ['4'], ['5'], ['6'], ['7']]);
  });
});

describe('meanColumns', () => {
  it('has the mean, the least and the greatest of each group, also between the values of a run', () => {
    const [xs, mean, alone, low, high, ...ofOne] = meanColumns(
      [
        [0, 1, 2, 3],
        [1, null, 3, null],
        [2, 4, null, 8],
        [7, null, null, 9],
      ],
      [2, 1],
    );
    expect(xs).toEqual([0, 1, 2, 3]);
    // 1, 2, 3 and none; 2, 4, 6, 8.
    expect(mean).toEqual([1.5, 3, 4.5, 8]);
    expect(low).toEqual([1, 2, 3, 8]);
    expect(high).toEqual([2, 4, 6, 8]);
    expect(alone).toEqual([7, null, null, 9]);
    expect(ofOne).toEqual([
      [null, null, null, null],
      [null, null, null, null],
    ]);
  });
});
