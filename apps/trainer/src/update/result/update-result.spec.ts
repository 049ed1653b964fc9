import { describe, expect, it } from 'vitest';
import { episodeShares } from './update-result.js';

/** Three episodes of 3, 2 and 1 action tokens; the last episode is not trained. */
const episodeActionOffsets = Int32Array.of(0, 3, 5, 6);
const trainedMask = Uint8Array.of(1, 1, 1, 1, 1, 0);
const advantages = Float32Array.of(1, 2, 6, -4, -4, 9);

describe('episodeShares', () => {
  it('sums up the advantages of the trained tokens of each episode', () => {
    const shares = episodeShares(episodeActionOffsets, { trainedMask, keptMask: null, advantages }, null);
    expect([...shares.times]).toEqual([1, 1, 0]);
    expect([...shares.numTokens]).toEqual([3, 2, 0]);
    expect([...shares.weights]).toEqual([1, 1, NaN]);
    expect([...shares.advantageMeans]).toEqual([3, -4, NaN]);
    // (−2)² + (−1)² + 3² = 14, over 3 tokens.
    expect([...shares.advantageDeviations]).toEqual([Math.fround(Math.sqrt(14 / 3)), 0, NaN]);
    expect([...shares.advantageMins]).toEqual([1, -4, NaN]);
    expect([...shares.advantageMaxs]).toEqual([6, -4, NaN]);
  });

  it('leaves out rejected tokens, and averages the importance weights of the others', () => {
    const keptMask = Uint8Array.of(1, 0, 1, 0, 0, 0);
    const importanceWeights = Float32Array.of(0.5, 9, 1.5, 9, 9, 9);
    const columns = { trainedMask, keptMask, advantages, importanceWeights };
    const shares = episodeShares(episodeActionOffsets, columns, Int32Array.of(2, 1, 0));
    expect([...shares.times]).toEqual([2, 1, 0]);
    expect([...shares.numTokens]).toEqual([2, 0, 0]);
    expect([...shares.weights]).toEqual([1, NaN, NaN]);
    expect([...shares.advantageMeans]).toEqual([3.5, NaN, NaN]);
  });

  it('has no advantages where the stage has none', () => {
    const shares = episodeShares(episodeActionOffsets, { trainedMask, keptMask: null }, null);
    expect([...shares.numTokens]).toEqual([3, 2, 0]);
    expect([...shares.advantageMeans]).toEqual([NaN, NaN, NaN]);
  });
});
