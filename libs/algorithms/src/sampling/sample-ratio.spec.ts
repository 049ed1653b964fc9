import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insertBlock, leastRatioRoom, ratioDifference, sampleBlock } from './sample-ratio.js';

const ratio = { samplesPerInsert: 2, minDiff: 0, maxDiff: 24 };

describe('the samples-per-insert limiter', () => {
  it('blocks the side that would leave the bounds, and says why', () => {
    // 8 groups in: 16 samples due. A second round of 8 makes 32 > 24.
    const counts = { numInserted: 8, numSampled: 0 };
    expect(ratioDifference(counts, ratio)).toBe(16);
    expect(insertBlock(counts, ratio, 8)).toBe(
      '8 groups × 2 samples − 0 sampled = 16; 8 groups more would make it 32, above maxDiff 24',
    );
    expect(sampleBlock(counts, ratio, 8)).toBeNull();
    // All samples were taken: the trainer waits, the collector goes on.
    const used = { numInserted: 8, numSampled: 16 };
    expect(insertBlock(used, ratio, 8)).toBeNull();
    expect(sampleBlock(used, ratio, 8)).toBe(
      '8 groups × 2 samples − 16 sampled = 0; 8 samples more would make it -8, below minDiff 0',
    );
  });

  it('never blocks both sides with the least room, and keeps within its bounds', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.25, max: 8, noNaN: true }),
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: 1, max: 16 }),
        fc.array(fc.boolean(), { maxLength: 200 }),
        (samplesPerInsert, inserted, sampled, wishes) => {
          const room = leastRatioRoom(samplesPerInsert, { inserted, sampled });
          const bounds = { samplesPerInsert, minDiff: 0, maxDiff: room };
          let counts = { numInserted: 0, numSampled: 0 };
          for (const insertsFirst of wishes) {
            const mayInsert = insertBlock(counts, bounds, inserted) === null;
            const maySample = sampleBlock(counts, bounds, sampled) === null;
            expect(mayInsert || maySample).toBe(true);
            const isInsert = insertsFirst ? mayInsert : !maySample;
            counts = isInsert
              ? { ...counts, numInserted: counts.numInserted + inserted }
              : { ...counts, numSampled: counts.numSampled + sampled };
            const difference = ratioDifference(counts, bounds);
            expect(difference).toBeGreaterThanOrEqual(0);
            expect(difference).toBeLessThanOrEqual(room);
          }
        },
      ),
    );
  });
});
