import { describe, expect, it } from 'vitest';
import {
  drGrpo, gpg, grpo, grpoPassK, maxRl, numberGroups, opo, rae, rloo, type GroupInput,
} from '../index.js'; // oxfmt-ignore
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';

// Group 0: 0, 1, 2 (mean 1, sample deviation 1); group 3: two equal returns; group 1: one member.
const GROUPS: GroupInput = {
  returns: Float32Array.of(0, 4, 1, 5, 2, 4),
  groupIds: Int32Array.of(0, 3, 0, 1, 0, 3),
};

describe('grpo', () => {
  it('is (R − μ)/σ within each group, 0 for a group of one and for equal returns, and counts both', () => {
    const result = grpo(GROUPS);
    expectClose(result.advantages, [-1, 0, 0, 0, 1, 0], 1e-5);
    expect(result).toMatchObject({ numGroups: 3, numSingletonGroups: 1, numEqualGroups: 1 });
  });

  it('adds epsilon to the deviation, also at 0, and so do its kin', () => {
    // σ = 1: ∓1/(1 + 0.25).
    expectClose(grpo(GROUPS, { epsilon: 0.25 }).advantages, [-0.8, 0, 0, 0, 0.8, 0], 1e-6);
    expectClose(grpo(GROUPS, { epsilon: 0 }).advantages, [-1, 0, 0, 0, 1, 0], 1e-7);
    // The best leads by 2 − 1.
    expectClose(grpoPassK(GROUPS, { epsilon: 0.25 }).advantages, [0, 0, 0, 0, 0.8, 0], 1e-6);
    expect(catchFault(() => grpo(GROUPS, { epsilon: -1 })).message).toContain('epsilon is -1');
  });

  it('gives a group of one its raw return when singleton is raw, as verl does', () => {
    expect(grpo(GROUPS, { singleton: 'raw' }).advantages[3]).toBe(5);
  });

  it('gives the two members of a group ±1/√2, whatever their returns', () => {
    const { advantages } = grpo({ returns: Float32Array.of(0, 1e-2), groupIds: Int32Array.of(0, 0) });
    expectClose(advantages, [-Math.SQRT1_2, Math.SQRT1_2], 2e-4);
  });

  it('gives 0 to returns that differ only by rounding', () => {
    const returns = Float64Array.of(0.1 + 0.2, 0.3, 0.3);
    const result = grpo({ returns, groupIds: Int32Array.of(0, 0, 0) });
    expect([...result.advantages]).toEqual([0, 0, 0]);
    expect(result.numEqualGroups).toBe(1);
  });

  it('keeps small differences on a large common offset', () => {
    const returns = Float64Array.of(1e6, 1e6 + 2, 1e6 + 4);
    expectClose(grpo({ returns, groupIds: Int32Array.of(0, 0, 0) }).advantages, [-1, 0, 1], 1e-5);
  });

  it('compares large returns that differ in float32, and treats a difference by its rounding as equality', () => {
    const groupIds = Int32Array.of(0, 0, 0);
    // Mean 1e6 + 0.5, sample deviation 0.5.
    expectClose(
      grpo({ returns: Float64Array.of(1e6, 1e6 + 0.5, 1e6 + 1), groupIds }).advantages,
      [-1, 0, 1],
      1e-5,
    );
    expect(grpo({ returns: Float64Array.of(1e6, 1e6 + 0.06, 1e6), groupIds }).numEqualGroups).toBe(1);
  });

  it('compares groups without a signal with the batch when equalGroupCoefficient is set', () => {
    const { advantages } = grpo(GROUPS, { equalGroupCoefficient: 0.5 });
    // batch: 0 4 1 5 2 4, mean 16/6, sample variance (Σx² − (Σx)²/6)/5 = (62 − 256/6)/5
    const mean = 16 / 6;
    const std = Math.sqrt((62 - 256 / 6) / 5);
    const fallback = (value: number): number => (0.5 * (value - mean)) / std;
    expectClose(advantages, [-1, fallback(4), 0, fallback(5), 1, fallback(4)], 1e-5);
  });

  it('gives 0 when the whole batch is equal, and accepts an empty batch', () => {
    const equal = { returns: new Float32Array(4), groupIds: Int32Array.of(0, 0, 1, 1) };
    expect(grpo(equal, { equalGroupCoefficient: 0.5 }).advantages.every((advantage) => advantage === 0)).toBe(
      true,
    );
    expect(grpo({ returns: new Float32Array(0), groupIds: new Int32Array(0) })).toMatchObject({
      numGroups: 0,
    });
  });

  it.each<[GroupInput, string]>([
    [{ ...GROUPS, groupIds: Int32Array.of(0, 1) }, 'groupIds has 2 entries, must have 6'],
    [
      { ...GROUPS, groupIds: Int32Array.of(0, 1, 2, 3, 4, 6) },
      'groupIds[5] is 6, must be a group number in [0, 6)',
    ],
    [{ ...GROUPS, groupIds: Int32Array.of(-1, 1, 2, 3, 4, 5) }, 'groupIds[0] is -1'],
    [{ ...GROUPS, returns: Float32Array.of(0, 0, Number.NaN, 0, 0, 0) }, 'returns[2] is NaN, must be finite'],
  ])('refuses %j', (input, message) => {
    expect(catchFault(() => grpo(input))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message) as string,
    });
  });
});

describe('other group baselines', () => {
  it('drGrpo: R − μ', () => {
    expectClose(drGrpo(GROUPS).advantages, [-1, 0, 0, 0, 1, 0], 1e-6);
  });

  it('rloo: R − mean of the others', () => {
    // group 0: 0 − 1.5, 1 − 1, 2 − .5
    expectClose(rloo(GROUPS).advantages, [-1.5, 0, 0, 0, 1.5, 0], 1e-6);
    expect(rloo(GROUPS, { singleton: 'raw' }).advantages[3]).toBe(5);
  });

  it('opo: R − ΣLR/ΣL', () => {
    const lengths = Int32Array.of(1, 0, 1, 9, 2, 0);
    // group 0: (0 + 1 + 2·2)/4 = 1.25; group 3 has no token: baseline 0
    expectClose(opo({ ...GROUPS, lengths }).advantages, [-1.25, 4, -0.25, 0, 0.75, 4], 1e-6);
  });

  it('grpoPassK: gives an advantage only to the single best member, by its lead', () => {
    expectClose(grpoPassK(GROUPS).advantages, [0, 0, 0, 0, 1, 0], 1e-5);
    const shared = { returns: Float32Array.of(1, 3, 3), groupIds: Int32Array.of(0, 0, 0) };
    expect([...grpoPassK(shared).advantages]).toEqual([0, 0, 0]);
    const lead = { returns: Float32Array.of(1, 4, 3), groupIds: Int32Array.of(0, 0, 0) };
    expect([...grpoPassK(lead, { divideByStd: false }).advantages]).toEqual([0, 1, 0]);
  });

  it('gpg: α(R − μ), α by groups that differ (paper) or by returns that are not 0 (verl)', () => {
    // 3 of 6 episodes are in a group whose returns differ; 5 of 6 returns are not 0
    expectClose(gpg(GROUPS).advantages, [-2, 0, 0, 0, 2, 0], 1e-6);
    expectClose(gpg(GROUPS, { alpha: 'zeroReturns' }).advantages, [-1.2, 0, 0, 0, 1.2, 0], 1e-6);
    const nothing = { returns: new Float32Array(2), groupIds: Int32Array.of(0, 0) };
    expect([...gpg(nothing, { alpha: 'zeroReturns' }).advantages]).toEqual([0, 0]);
  });

  it('maxRl: is (R − μ)/μ, is 0 where μ is 0, and refuses negative returns', () => {
    const solved = { returns: Float32Array.of(1, 0, 0, 0, 0, 0), groupIds: Int32Array.of(0, 0, 0, 0, 1, 1) };
    expectClose(maxRl(solved).advantages, [3, -1, -1, -1, 0, 0], 1e-6);
    expect(
      catchFault(() => maxRl({ returns: Float32Array.of(0, -1), groupIds: Int32Array.of(0, 0) })),
    ).toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('returns[1] is -1') as string,
    });
  });

  it('rae: R minus the running mean of the role, which then moves toward the mean of the batch', () => {
    const input = {
      returns: Float32Array.of(1, 3, 10),
      roleIds: Int32Array.of(0, 0, 2),
      baselines: Float64Array.of(1, 7, 0),
      decay: 0.75,
    };
    const { advantages, baselines } = rae(input);
    expect([...advantages]).toEqual([0, 2, 10]);
    expect([...baselines]).toEqual([0.75 * 1 + 0.25 * 2, 7, 0.25 * 10]);
    expect(catchFault(() => rae({ ...input, roleIds: Int32Array.of(0, 0, 3) })).message).toContain(
      'roleIds[2] is 3',
    );
  });

  it('numberGroups: numbers names by first appearance', () => {
    expect(numberGroups(['b', 'a', 'b'])).toEqual({ groupIds: Int32Array.of(0, 1, 0), numGroups: 2 });
  });
});
