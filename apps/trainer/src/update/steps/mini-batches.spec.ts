import { Pcg32 } from '@retrace/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UpdateColumns } from '../loss-columns.js';
import { gatherSequences, shuffledSequences, splitSequences, stepTokens } from './mini-batches.js';

/** Sequences of the given lengths, whose last `trained` tokens are its action tokens; every column holds the token's position in the batch. */
function columnsOf(sequences: readonly { length: number; trained: number }[]): UpdateColumns {
  const sequenceOffsets = new Int32Array(sequences.length + 1);
  const sequenceActionOffsets = new Int32Array(sequences.length + 1);
  const actionTokens: number[] = [];
  sequences.forEach(({ length, trained }, s) => {
    const end = sequenceOffsets[s] + length;
    sequenceOffsets[s + 1] = end;
    for (let n = end - trained; n < end; n++) actionTokens.push(n);
    sequenceActionOffsets[s + 1] = actionTokens.length;
  });
  const positions = Float32Array.from(actionTokens);
  return {
    tokenIds: Int32Array.from({ length: sequenceOffsets[sequences.length] }, (_, n) => n),
    sequenceOffsets,
    actionTokens: Int32Array.from(actionTokens),
    sequenceActionOffsets,
    sequenceGroups: new Int32Array(sequences.length),
    sequenceCopies: null,
    trainedMask: new Uint8Array(actionTokens.length).fill(1),
    keptMask: null,
    importanceWeights: null,
    advantages: positions,
    proximalLogprobs: positions,
    behaviorLogprobs: positions,
    referenceLogprobs: null,
    returns: positions,
    proximalValues: null,
  };
}

const anySequences = fc.array(
  fc
    .integer({ min: 2, max: 9 })
    .chain((length) =>
      fc.record({ length: fc.constant(length), trained: fc.integer({ min: 0, max: length - 1 }) }),
    ),
  { minLength: 1, maxLength: 40 },
);

describe('mini-batches', () => {
  it('hold every sequence that trains anything exactly once', () => {
    fc.assert(
      fc.property(anySequences, fc.integer({ min: 1, max: 30 }), fc.nat(), (sequences, size, seed) => {
        const columns = columnsOf(sequences);
        const batches = splitSequences(columns, shuffledSequences(columns, new Pcg32(seed)), {
          miniBatchActionTokens: size,
        });
        const seen = batches.flatMap((batch) => Array.from(batch)).sort((a, b) => a - b);
        expect(seen).toEqual(sequences.flatMap(({ trained }, s) => (trained > 0 ? [s] : [])));
      }),
    );
  });

  it('hold a sequence as often as it has copies', () => {
    const sequences = Array.from({ length: 4 }, () => ({ length: 2, trained: 1 }));
    const columns = { ...columnsOf(sequences), sequenceCopies: Int32Array.of(2, 0, 1, 1) };
    const order = shuffledSequences(columns, new Pcg32(1));
    expect(order.toSorted()).toEqual(Int32Array.of(0, 0, 2, 3));
    const rule = { aggregation: 'sequenceMeanTokenMean', horizon: null, denominator: 'all' } as const;
    const { lossWeights } = gatherSequences(columns, order, rule).batch;
    expect(lossWeights.filter((weight) => weight === 0.25)).toHaveLength(4);
  });

  it('have no small remainder: 1,100 one-token sequences at 256 a batch make four of 275', () => {
    const columns = columnsOf(Array.from({ length: 1100 }, () => ({ length: 2, trained: 1 })));
    const batches = splitSequences(columns, shuffledSequences(columns, new Pcg32(1)), {
      miniBatchActionTokens: 256,
    });
    expect(batches.map((batch) => batch.length)).toEqual([275, 275, 275, 275]);
  });

  it('are the whole batch where no size is asked for', () => {
    const columns = columnsOf(Array.from({ length: 5 }, () => ({ length: 3, trained: 2 })));
    const order = shuffledSequences(columns, new Pcg32(1));
    expect(splitSequences(columns, order, {})).toEqual([order]);
    expect(splitSequences(columns, order, { miniBatchSequences: null })).toEqual([order]);
  });

  it('have about as many sequences as asked for, however long they are', () => {
    const columns = columnsOf(Array.from({ length: 30 }, (_, s) => ({ length: 9, trained: 1 + (s % 8) })));
    const order = shuffledSequences(columns, new Pcg32(1));
    const batches = splitSequences(columns, order, { miniBatchActionTokens: 1, miniBatchSequences: 8 });
    expect(batches.map((batch) => batch.length)).toEqual([8, 7, 8, 7]);
  });

  it('gather each column from the same tokens, and weigh a token mean over just these sequences', () => {
    const columns = columnsOf([
      { length: 3, trained: 1 },
      { length: 2, trained: 1 },
      { length: 4, trained: 2 },
    ]);
    const { batch, actions, positions } = gatherSequences(columns, Int32Array.of(2, 0), {
      aggregation: 'tokenMean',
      horizon: null,
      denominator: 'all',
    });
    expect(Array.from(batch.tokenIds)).toEqual([5, 6, 7, 8, 0, 1, 2]);
    expect(Array.from(batch.sequenceOffsets)).toEqual([0, 4, 7]);
    expect([Array.from(actions), Array.from(positions)]).toEqual([
      [2, 3, 0],
      [2, 3, 6],
    ]);
    expect(Array.from(batch.advantages ?? [])).toEqual([0, 0, 7, 8, 0, 0, 2]);
    expect(Array.from(batch.lossWeights)).toEqual([0, 0, 1, 1, 0, 0, 1].map((bit) => Math.fround(bit / 3)));
  });

  it('come in the same order for the same seed', () => {
    const columns = columnsOf(Array.from({ length: 50 }, () => ({ length: 2, trained: 1 })));
    expect(shuffledSequences(columns, new Pcg32(7))).toEqual(shuffledSequences(columns, new Pcg32(7)));
    expect(shuffledSequences(columns, new Pcg32(7))).not.toEqual(shuffledSequences(columns, new Pcg32(8)));
  });

  it('train only the action tokens that the mask marks: order, size, weights and recorded tokens', () => {
    const three = columnsOf([
      { length: 3, trained: 2 },
      { length: 3, trained: 2 },
      { length: 4, trained: 3 },
    ]);
    // Actions 0 1 | 2 3 | 4 5 6, of which 0, 4 and 6 are trained.
    const columns = { ...three, trainedMask: Uint8Array.of(1, 0, 0, 0, 1, 0, 1) };
    expect(shuffledSequences(columns, new Pcg32(1)).toSorted()).toEqual(Int32Array.of(0, 2));
    const bySize = splitSequences(columns, Int32Array.of(0, 2), { miniBatchActionTokens: 1 });
    expect(bySize.map((sequences) => [...sequences])).toEqual([[0], [2]]);
    const rule = { aggregation: 'tokenMean', horizon: null, denominator: 'all' } as const;
    const gathered = gatherSequences(columns, Int32Array.of(2, 0), rule);
    const third = Math.fround(1 / 3);
    expect([...gathered.batch.lossWeights]).toEqual([0, third, 0, third, 0, third, 0]);
    const numbers = Float32Array.of(0, 1, 2, 3, 4, 5, 6);
    const figures = { ratios: numbers, values: numbers, kls: numbers, entropies: numbers };
    const clipped = Uint8Array.of(0, 1, 0, 0, 0, 1, 0);
    const recorded = stepTokens(gathered, gathered.batch, { ...figures, clipped });
    expect([...recorded.actions]).toEqual([4, 6, 0]);
    expect([...recorded.ratios]).toEqual([1, 3, 5]);
    // The advantage of each token is its position in the batch.
    expect([...recorded.advantages]).toEqual([7, 9, 1]);
    expect([...recorded.clipped]).toEqual([1, 0, 1]);
  });
});
