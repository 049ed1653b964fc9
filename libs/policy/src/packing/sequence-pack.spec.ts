import { describe, expect, it } from 'vitest';
import { seededRandom } from '../testing/random-batch.js';
import { packSequences } from './sequence-pack.js';

/** Sequences of the given lengths whose token ids tell position n in the flat batch. */
function batchOf(lengths: readonly number[]) {
  const sequenceOffsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, s) => {
    sequenceOffsets[s + 1] = sequenceOffsets[s] + length;
  });
  const numTokens = sequenceOffsets[lengths.length];
  return { tokenIds: Int32Array.from({ length: numTokens }, (_, n) => n), sequenceOffsets };
}

describe('packSequences', () => {
  it('lays sequences end to end, longest first, without padding', () => {
    const batch = batchOf([2, 6, 3, 4]);
    const [pack, ...others] = packSequences(batch, { readMask: new Uint8Array(15).fill(1), maxTokens: 15 });
    expect(others).toEqual([]);
    expect([...pack.offsets]).toEqual([0, 6, 10, 13, 15]);
    expect([...pack.tokenIds]).toEqual([2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 8, 9, 10, 0, 1]);
    expect(pack.readCells).toBeNull();
  });

  it('fills the space that long sequences leave in a pack with short ones', () => {
    const packs = packSequences(batchOf([2, 6, 3, 4]), {
      readMask: new Uint8Array(15).fill(1),
      maxTokens: 8,
    });
    expect(packs.map(({ offsets }) => [...offsets])).toEqual([
      [0, 6, 8],
      [0, 4, 7],
    ]);
  });

  it('leaves out sequences without a read, and tokens after the last read of one', () => {
    const readMask = Uint8Array.of(0, 0, 0, 0, 0, 0, 1, 1, 0, 0);
    const [pack] = packSequences(batchOf([5, 5]), { readMask, maxTokens: 100 });
    expect([...pack.tokenIds]).toEqual([5, 6, 7]);
    expect([...pack.readCells!]).toEqual([1, 2]);
    expect([...pack.readPositions]).toEqual([6, 7]);
  });

  it('gives a sequence longer than the limit its own pack', () => {
    const packs = packSequences(batchOf([9, 2]), { readMask: new Uint8Array(11).fill(1), maxTokens: 4 });
    expect(packs.map(({ offsets }) => [...offsets])).toEqual([
      [0, 9],
      [0, 2],
    ]);
  });

  it('makes nothing of nothing', () => {
    expect(packSequences(batchOf([]), { readMask: new Uint8Array(0), maxTokens: 8 })).toEqual([]);
    expect(packSequences(batchOf([3, 0]), { readMask: new Uint8Array(3), maxTokens: 8 })).toEqual([]);
  });

  it('reads every marked position once, each in its sequence, whatever the lengths and the limit', () => {
    const random = seededRandom(5);
    for (let trial = 0; trial < 200; trial++) {
      const lengths = Array.from({ length: 1 + Math.floor(random() * 12) }, () => Math.floor(random() * 10));
      const batch = batchOf(lengths);
      const share = random();
      const readMask = Uint8Array.from(batch.tokenIds, () => (random() < share ? 1 : 0));
      const maxTokens = 1 + Math.floor(random() * 40);
      const read: number[] = [];
      for (const pack of packSequences(batch, { readMask, maxTokens })) {
        const numSequences = pack.offsets.length - 1;
        expect(numSequences === 1 || pack.tokenIds.length <= maxTokens).toBe(true);
        const cells = pack.readCells ?? pack.tokenIds.map((_, cell) => cell);
        expect([...cells].map((cell) => pack.tokenIds[cell])).toEqual([...pack.readPositions]);
        for (let s = 0; s < numSequences; s++) {
          const [first, last] = [pack.readOffsets[s], pack.readOffsets[s + 1]];
          expect(last).toBeGreaterThan(first);
          expect(cells[first]).toBeGreaterThanOrEqual(pack.offsets[s]);
          // The last token of a sequence is read, or it would have been left out.
          expect(cells[last - 1]).toBe(pack.offsets[s + 1] - 1);
        }
        read.push(...pack.readPositions);
      }
      const marked = [...batch.tokenIds].filter((n) => readMask[n] === 1);
      expect(read.sort((a, b) => a - b)).toEqual(marked);
    }
  });
});
