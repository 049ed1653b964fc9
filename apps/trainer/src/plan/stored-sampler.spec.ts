import type { SamplerRecipe } from '@retrace/config';
import { Pcg32 } from '@retrace/random';
import { RowRecord } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { StoredGroups } from './stored-groups.js';
import type { DrawnGroup } from './drawn-group.js';
import { StoredSampler } from './stored-sampler.js';

const NUM_DRAWS = 20_000;

interface Row {
  readonly family?: number;
  readonly success?: 0 | 1;
  readonly priority?: number;
}

/** Groups of one episode each. */
function groupsOf(rows: readonly Row[]): StoredGroups {
  const ids = rows.map((_, n) => `01920000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`);
  return new StoredGroups({
    runIds: ids.map(() => ids[0]),
    groupIds: ids,
    episodeIds: ids,
    numSteps: new Int32Array(rows.length).fill(3),
    successes: Int8Array.from(rows, ({ success = 0 }) => success),
    families: Float64Array.from(rows, ({ family = 0 }) => family),
    priorities: rows.some(({ priority }) => priority !== undefined)
      ? Float64Array.from(rows, ({ priority = 0 }) => priority)
      : null,
  });
}

function samplerOf(rows: readonly Row[], sampler: SamplerRecipe, record = new RowRecord()) {
  return new StoredSampler({ source: 0, groups: groupsOf(rows), record, sampler });
}

/** Share of the single draws that each row had. */
function sharesOf(rows: readonly Row[], sampler: SamplerRecipe, record?: RowRecord): number[] {
  const random = new Pcg32(11);
  const drawn = samplerOf(rows, sampler, record);
  const counts = rows.map(() => 0);
  for (let n = 0; n < NUM_DRAWS; n++) {
    const [{ row }] = drawn.draw(1, () => random.nextFloat());
    counts[row] += 1;
  }
  return counts.map((count) => count / NUM_DRAWS);
}

/** Within five standard errors of the shares that the weights give. */
function expectShares(shares: readonly number[], weights: readonly number[]): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  shares.forEach((share, row) => {
    const expected = weights[row] / total;
    const error = Math.sqrt((expected * (1 - expected)) / NUM_DRAWS);
    expect(Math.abs(share - expected), `row ${row}`).toBeLessThanOrEqual(5 * error);
  });
}

describe('StoredSampler', () => {
  it('draws by the value of an SQL expression to the power of the exponent', () => {
    const rows = [0, 1, 2, 8].map((priority) => ({ priority }));
    const sampler: SamplerRecipe = {
      rule: 'prioritized',
      priority: { sql: 'abs(return)' },
      priorityExponent: 0.5,
    };
    expectShares(
      sharesOf(rows, sampler),
      rows.map(({ priority }) => (priority + 1e-6) ** 0.5),
    );
  });

  it.each(['advantage', 'tdError'] as const)(
    'draws by what updates measured of the %s, and what was never tried like the first',
    (priority) => {
      const record = new RowRecord();
      record.sample(0);
      record.prioritize(0, 0.25);
      record.sample(1);
      record.prioritize(1, 4);
      const sampler: SamplerRecipe = { rule: 'prioritized', priority, priorityExponent: 1 };
      expectShares(sharesOf([{}, {}, {}], sampler, record), [0.25, 4, 1]);
    },
  );

  it('gives each draw its weight and the times of the draw, for importance weights', () => {
    const rows = [1, 3].map((priority) => ({ priority }));
    const sampler: SamplerRecipe = { rule: 'prioritized', priority: { sql: 'return' }, priorityExponent: 1 };
    const [{ row, chance }] = samplerOf(rows, sampler).draw(1, () => 0.9);
    expect(row).toBe(1);
    expect(chance?.weight).toBeCloseTo(3, 5);
    // Waiting times of mean 1/4, then, as the other has the weight 1, of mean 1.
    const time = -Math.log(0.1);
    expect(chance?.drawnAt).toBeCloseTo(time / 4, 5);
    expect(chance?.nextTime).toBeCloseTo(time / 4 + time, 5);
  });

  it('favors tasks near the target of a curriculum: half solved before never and always solved', () => {
    const rows: Row[] = [
      { family: 0, success: 0 },
      { family: 0, success: 0 },
      { family: 1, success: 0 },
      { family: 1, success: 1 },
      { family: 2, success: 1 },
      { family: 2, success: 1 },
    ];
    const shares = sharesOf(rows, {
      rule: 'uniform',
      curriculum: { targetDifficulty: 0.5, leastWeight: 0.1 },
    });
    const ofFamily = (f: number) => shares[2 * f] + shares[2 * f + 1];
    expect(ofFamily(1)).toBeGreaterThan(2 * ofFamily(0));
    expect(ofFamily(1)).toBeGreaterThan(2 * ofFamily(2));
    // Never and always are equally far from half.
    expect(Math.abs(ofFamily(0) - ofFamily(2))).toBeLessThan(0.02);
    expect(Math.min(...shares)).toBeGreaterThan(0);
  });

  it('draws nothing that was sampled as often as it may be, nor what the update has already', () => {
    const record = new RowRecord();
    record.sample(0);
    const sampler = samplerOf([{}, {}, {}], { rule: 'uniform', maxTimesSampled: 1 }, record);
    const random = new Pcg32(3);
    const drawn = sampler.draw(3, () => random.nextFloat(), [{ row: 2, chance: null } as DrawnGroup]);
    expect(drawn.map(({ row }) => row)).toEqual([1]);
  });
});
