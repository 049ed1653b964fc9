import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pcg32 } from './pcg32.js';

describe('Pcg32', () => {
  it('gives the sequence of the reference implementation (pcg32-demo, seed 42, stream 54)', () => {
    const random = new Pcg32(42, 54);
    const drawn = Array.from({ length: 6 }, () => random.nextUint32());
    expect(drawn).toEqual([0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e]);
  });

  it('agrees with 64-bit integer arithmetic for any seed and stream', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 0, max: 2 ** 52 - 1 }), (seed, stream) => {
        const random = new Pcg32(seed, stream);
        const oracle = bigintPcg32(BigInt(seed), BigInt(stream));
        for (let i = 0; i < 20; i++) expect(random.nextUint32()).toBe(oracle());
      }),
    );
  });

  it('restarts its sequence when it is seeded again', () => {
    const random = new Pcg32(7);
    const first = random.nextUint32();
    random.nextUint32();
    random.seed(7);
    expect(random.nextUint32()).toBe(first);
  });

  it('is uniform below a bound: χ² of 70,000 draws over 7 values stays under its 99.9 % point', () => {
    const random = new Pcg32(1);
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 70_000; i++) counts[random.nextBelow(7)] += 1;
    const chiSquare = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    expect(chiSquare).toBeLessThan(22.46); // χ²(6), p = .001
  });

  it('stays in [0, 1) with mean ½', () => {
    const random = new Pcg32(2);
    let sum = 0;
    for (let i = 0; i < 40_000; i++) {
      const drawn = random.nextFloat();
      expect(drawn >= 0 && drawn < 1).toBe(true);
      sum += drawn;
    }
    expect(Math.abs(sum / 40_000 - 0.5)).toBeLessThan(4 / Math.sqrt(12 * 40_000)); // four standard errors
  });

  it.each([
    ['seed', () => new Pcg32(-1)],
    ['seed', () => new Pcg32(0.5)],
    ['stream', () => new Pcg32(0, 2 ** 52)],
    ['bound', () => new Pcg32(0).nextBelow(0)],
  ])('refuses a bad %s', (name, make) => {
    expect(make).toThrowError(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(name) as string,
      }) as Error,
    );
  });
});

function bigintPcg32(seed: bigint, stream: bigint): () => number {
  const mask = 2n ** 64n - 1n;
  const increment = ((stream << 1n) | 1n) & mask;
  let state = 0n;
  const next = (): number => {
    const old = state;
    state = (old * 6364136223846793005n + increment) & mask;
    const word = (((old >> 18n) ^ old) >> 27n) & 0xffffffffn;
    const rotation = old >> 59n;
    return Number(((word >> rotation) | (word << (32n - rotation))) & 0xffffffffn);
  };
  next();
  state = (state + seed) & mask;
  next();
  return next;
}
