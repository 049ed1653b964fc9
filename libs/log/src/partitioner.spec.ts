import { describe, expect, it } from 'vitest';
import { episodeIdFor } from '@retrace/trajectory';
import { choosePartition } from './partitioner.js';

const RUN_ID = '01936d00-0000-7000-8000-00000000b001';

describe('choosePartition', () => {
  it('is CRC-32 of the ids modulo the partitions, as ClickHouse computes it', () => {
    // CRC-32 of "123456789" is 0xcbf43926, the check value of the algorithm; 0xcbf43926 = 3421780262.
    expect(choosePartition('1234', '56789', 1000)).toBe(262);
    expect(choosePartition('1234', '56789', 1)).toBe(0);
  });

  it.each([2, 4, 7, 16])('spreads consecutive episodes evenly over %i partitions', (numPartitions) => {
    const numEpisodes = 20_000;
    const counts = new Array<number>(numPartitions).fill(0);
    for (let ordinal = 0; ordinal < numEpisodes; ordinal += 1) {
      counts[choosePartition(RUN_ID, episodeIdFor({ runId: RUN_ID, ordinal }), numPartitions)] += 1;
    }
    const expected = numEpisodes / numPartitions;
    // Five standard deviations of a binomial count.
    const tolerance = 5 * Math.sqrt(expected);
    for (const count of counts) expect(Math.abs(count - expected)).toBeLessThan(tolerance);
  });

  it.each([0, -1, 1.5])('refuses %d partitions', (numPartitions) => {
    expect(() => choosePartition(RUN_ID, 'e', numPartitions)).toThrow(/must be an integer ≥ 1/);
  });
});
