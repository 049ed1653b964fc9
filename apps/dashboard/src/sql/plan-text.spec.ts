import { describe, expect, it } from 'vitest';
import type { SqlPlannedTable } from '../api-types/schema';
import { adviceOn, describeIndex, describeRead, formatBytes, stepName, listViews } from './plan-text';

const read = (numRows: number, totalRows: number | null): SqlPlannedTable => ({
  ...{ table: 'events', numRows, totalRows, maxBytes: null, numParts: 1, numGranules: 1 },
});
const key = (condition: string) => ({
  ...{ type: 'PrimaryKey', name: 'run_id', condition },
  ...{ numParts: 1, totalParts: 2, numGranules: 3, totalGranules: 4_000 },
});
const planOf = (numRows: number, condition: string) => ({
  names: ['steps'],
  tables: [read(numRows, numRows)],
  steps: [{ depth: 0, name: 'ReadFromMergeTree', detail: 'events', indexes: [key(condition)] }],
});

describe('plan of a query in words', () => {
  it('tells a part of a table from the whole, and from a table that is read twice', () => {
    const [step] = planOf(1, '').steps;
    expect(describeRead(read(8_192, 67_747), [step])).toBe('Reads 8,192 of 67,747 rows of events, 12.1%');
    expect(describeRead(read(67_662, 67_747), [step])).toBe('Reads the whole of events, 67,662 rows');
    expect(describeRead(read(20, 10), [step, step])).toBe('Reads the whole of events, 2 times, 20 rows');
    expect(describeRead(read(10, 10), [step, step])).toBe(
      'Reads 10 rows of events, which has 10, in 2 steps',
    );
    expect(describeRead(read(1, null), [step])).toBe('Reads 1 row of events');
  });

  it('takes two reads of half a large table for no read of the whole', () => {
    const plan = planOf(1_000_000, 'true');
    expect(adviceOn({ ...plan, steps: [...plan.steps, ...plan.steps] })).toBeNull();
  });

  it('names the views that a query reads through, and no table that it reads', () => {
    expect(listViews({ ...planOf(1, ''), names: ['steps', 'events'] })).toEqual(['steps']);
  });

  it('advises on a filter only where a large table is read whole', () => {
    expect(adviceOn(planOf(1_000, 'true'))).toBeNull();
    expect(adviceOn(planOf(1_000_000, 'true'))).toMatch(/^A filter by run_id reads less/);
    expect(adviceOn(planOf(1_000_000, "(run_id in ['a'])"))).toMatch(/a filter by episode_id/);
  });

  it('names steps and indexes', () => {
    expect(stepName('ReadFromMergeTree')).toBe('Read');
    expect(stepName('TotalsHaving')).toBe('Totals Having');
    expect(describeIndex(key('true'))).toBe('Primary key run_id: 3 of 4,000 granules');
  });

  it('formats bytes by powers of 1,024', () => {
    expect([0, 1_023, 1_024, 7_632_784, 2 ** 41].map(formatBytes)).toEqual([
      ...['0 B', '1023 B', '1.0 KiB', '7.3 MiB', '2.0 TiB'],
    ]);
  });
});
