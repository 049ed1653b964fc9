import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { biLevelGae, gae } from '../index.js';
import { expectClose } from '../testing/expect-close.js';

describe('biLevelGae', () => {
  it('is GAE over turns and then GAE within each turn, as worked out by hand', () => {
    const { advantages, returns } = biLevelGae({
      episodeSteps: Int32Array.of(0, 3),
      // the second turn has no action token
      stepOffsets: Int32Array.of(0, 2, 2, 3),
      rewards: Float32Array.of(0, 1, 2),
      values: Float32Array.of(0.25, 0.5, 1),
      turnGamma: 0.5,
      gamma: 1,
      lambda: 0.5,
    });
    // Turns: δ₂ = 2 − 1 = 1, A₂ = 1; δ₁ = 1 + ½·1 − .5 = 1, A₁ = 1 + ½·½·1 = 1.25.
    // Inside turn 1: token 1 has A = 1.25; token 0: δ = 0 + .5 − .25 = .25, A = .25 + ½·1.25 = .875
    expect([...advantages]).toEqual([0.875, 1.25, 1]);
    expect([...returns]).toEqual([0.875 + 0.25, 1.75, 2]);
  });

  it('gives a turn the sum of its rewards, wherever in the turn they are', () => {
    const at = (...rewards: number[]) => [
      ...biLevelGae({
        episodeSteps: Int32Array.of(0, 2),
        stepOffsets: Int32Array.of(0, 2, 4),
        rewards: Float32Array.from(rewards),
        values: Float32Array.of(0.25, 0.5, 1, 2),
        turnGamma: 0.5,
        gamma: 1,
        lambda: 1,
      }).advantages,
    ];
    // A₂ = 3 − 2 = 1, inside its turn 2 − 1 + 1 = 2. A₁ = 0 + ½·2 − ½ + ½·1 = 1, inside its turn ½ − ¼ + 1 = 1.25.
    expect(at(0, 0, 0, 3)).toEqual([1.25, 1, 2, 1]);
    expect(at(0, 0, 1, 2)).toEqual(at(0, 0, 0, 3));
    expect(at(0, 0, 3, 0)).toEqual(at(0, 0, 0, 3));
  });

  it('takes turn ends from the boundaries, not from rewards', () => {
    const base = {
      episodeSteps: Int32Array.of(0, 2),
      rewards: new Float32Array(4),
      values: Float32Array.of(1, 2, 3, 4),
      turnGamma: 0.9,
      gamma: 1,
      lambda: 0.9,
    };
    const one = biLevelGae({ ...base, stepOffsets: Int32Array.of(0, 1, 4) });
    const other = biLevelGae({ ...base, stepOffsets: Int32Array.of(0, 3, 4) });
    expect(one.advantages).not.toEqual(other.advantages);
  });

  it('equals GAE, bootstrap included, when every turn is one token', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -4, max: 4 })), {
          maxLength: 6,
        }),
        (row) => {
          const input = {
            rewards: Float32Array.from(row, ([reward]) => reward / 4),
            values: Float32Array.from(row, ([, value]) => value / 4),
            truncated: Uint8Array.of(1),
            finalValues: Float32Array.of(0.75),
            lambda: 0.9,
          };
          const offsets = Int32Array.of(0, row.length);
          const bounds = Int32Array.from({ length: row.length + 1 }, (_, k) => k);
          const turns = biLevelGae({
            ...input,
            episodeSteps: offsets,
            stepOffsets: bounds,
            turnGamma: 0.8,
            gamma: 1,
          });
          expectClose(turns.advantages, gae({ ...input, offsets, gamma: 0.8 }).advantages, 1e-6);
        },
      ),
    );
  });
});
