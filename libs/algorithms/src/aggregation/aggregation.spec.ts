import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AGGREGATIONS,
  aggregationWeights,
  countForAggregation,
  toOffsets,
  type AggregatedTokens,
} from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';

const BATCH: AggregatedTokens = {
  offsets: Int32Array.of(0, 2, 2, 5),
  groupIds: Int32Array.of(0, 1, 1),
  keep: Uint8Array.of(1, 0, 1, 1, 1),
};

function weightsOf(
  tokens: AggregatedTokens,
  options: Partial<Parameters<typeof aggregationWeights>[1]> = {},
): number[] {
  const counts = countForAggregation({ ...tokens, keep: null });
  return [...aggregationWeights(tokens, { aggregation: 'tokenMean', counts, horizon: 4, ...options })];
}

describe('aggregationWeights', () => {
  // 5 tokens, 2 sequences with tokens, 2 groups with tokens; a rejected token weighs nothing but is counted.
  it.each([
    ['tokenMean', [1 / 5, 0, 1 / 5, 1 / 5, 1 / 5]],
    ['tokenSum', [1, 0, 1, 1, 1]],
    ['sequenceMeanTokenSum', [1 / 2, 0, 1 / 2, 1 / 2, 1 / 2]],
    ['sequenceMeanTokenMean', [1 / 4, 0, 1 / 6, 1 / 6, 1 / 6]],
    ['sequenceMeanTokenSumNorm', [1 / 8, 0, 1 / 8, 1 / 8, 1 / 8]],
    ['groupMeanTokenMean', [1 / 4, 0, 1 / 6, 1 / 6, 1 / 6]],
  ] as const)('%s', (aggregation, expected) => {
    expectClose(weightsOf(BATCH, { aggregation }), expected, 1e-7);
  });

  it('counts only kept tokens when the denominator is kept, as verl does', () => {
    const counts = countForAggregation(BATCH);
    expect(counts).toEqual({
      numTokens: 4,
      numSequences: 2,
      numGroups: 2,
      tokensPerGroup: Float64Array.of(1, 3, 0),
    });
    expectClose(weightsOf(BATCH, { counts }), [1 / 4, 0, 1 / 4, 1 / 4, 1 / 4], 1e-7);
    const kept = { aggregation: 'sequenceMeanTokenMean', counts, denominator: 'kept' } as const;
    expectClose(weightsOf(BATCH, kept), [1 / 2, 0, 1 / 6, 1 / 6, 1 / 6], 1e-7);
  });

  it.each(AGGREGATIONS)(
    '%s gives 0, not NaN, when all tokens are rejected or there are none',
    (aggregation) => {
      const rejected = { ...BATCH, keep: new Uint8Array(5) };
      const counts = countForAggregation(rejected);
      expect(weightsOf(rejected, { aggregation, counts })).toEqual([0, 0, 0, 0, 0]);
      expect(weightsOf({ offsets: Int32Array.of(0), groupIds: new Int32Array(0) }, { aggregation })).toEqual(
        [],
      );
    },
  );

  it.each(AGGREGATIONS)('%s does not depend on how the batch is split into micro-batches', (aggregation) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(5), fc.nat(2)), { minLength: 1, maxLength: 8 }),
        fc.nat(8),
        (sequences, at) => {
          const lengths = sequences.map(([length]) => length);
          const groups = sequences.map(([, group]) => Math.min(group, sequences.length - 1));
          const whole = { offsets: toOffsets(lengths), groupIds: Int32Array.from(groups) };
          const options = { aggregation, counts: countForAggregation(whole), horizon: 7 };
          // A part keeps the group numbers of the batch, so its group array may hold numbers beyond its own length.
          const part = (from: number, to: number): number[] => {
            const used = lengths.slice(from, to);
            return used.length === 0
              ? []
              : [
                  ...aggregationWeights(
                    { offsets: toOffsets(used), groupIds: Int32Array.from(groups.slice(from, to)) },
                    options,
                  ),
                ];
          };
          const cut = Math.min(at, lengths.length);
          expect([...part(0, cut), ...part(cut, lengths.length)]).toEqual([
            ...aggregationWeights(whole, options),
          ]);
        },
      ),
    );
  });

  it('names similar aggregations when it refuses an unknown one', () => {
    expect(catchFault(() => weightsOf(BATCH, { aggregation: 'tokenMaen' as never }))).toMatchObject({
      code: 'UNKNOWN_NAME',
      message: expect.stringMatching(/^aggregation is 'tokenMaen'.* did you mean tokenMean/) as string,
    });
  });

  it('names a required input that is missing', () => {
    const noGroups = { ...BATCH, groupIds: null };
    expect(catchFault(() => weightsOf(noGroups, { aggregation: 'groupMeanTokenMean' })).code).toBe(
      'MISSING_INPUT',
    );
    expect(
      catchFault(() => weightsOf(BATCH, { aggregation: 'sequenceMeanTokenSumNorm', horizon: null })).code,
    ).toBe('MISSING_INPUT');
    expect(
      catchFault(() => weightsOf(BATCH, { aggregation: 'sequenceMeanTokenSumNorm', horizon: 0 })).message,
    ).toContain('horizon is 0');
    expect(catchFault(() => weightsOf({ ...BATCH, keep: new Uint8Array(2) })).message).toBe(
      'keep has 2 entries, must have 5',
    );
  });
});
