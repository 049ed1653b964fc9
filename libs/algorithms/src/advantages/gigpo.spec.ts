import { describe, expect, it } from 'vitest';
import { computeAdvantages, gigpo, type GigpoInput } from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';

/*
 * One group of three episodes, one action token a step, γ = ½.
 *   episode 0: states 0 1 2, rewards 0 0 1    G = .25  .5  1    R = 1
 *   episode 1: states 0 1,   rewards 0 0      G = 0    0        R = 0
 *   episode 2: state  0,     reward  −1       G = −1            R = −1
 */
const GROUP: GigpoInput = {
  episodeSteps: Int32Array.of(0, 3, 5, 6),
  stepOffsets: Int32Array.of(0, 1, 2, 3, 4, 5, 6),
  rewards: Float32Array.of(0, 0, 1, 0, 0, -1),
  groupIds: Int32Array.of(0, 0, 0),
  anchors: Int32Array.of(0, 1, 2, 0, 1, 0),
};

describe('gigpo', () => {
  it('adds the episode level and the step level, as worked out by hand', () => {
    const { advantages, sharedAnchorFraction } = gigpo(GROUP, {
      normalization: 'mean',
      stepGamma: 0.5,
      stepWeight: 2,
    });
    // Episode level: mean 0, so 1, 0, −1, each episode counted once however many steps it has.
    // State 0: G = .25, 0, −1, mean −.25: .5, .25, −.75. State 1: .5, 0, mean .25: ±.25. State 2: alone, 0.
    expectClose(advantages, [1 + 2 * 0.5, 1 + 2 * 0.25, 1, 2 * 0.25, 2 * -0.25, -1 + 2 * -0.75], 1e-6);
    expect(sharedAnchorFraction).toBeCloseTo(5 / 6, 12);
  });

  it('divides by the deviation with meanStd, at both levels', () => {
    const { advantages } = gigpo(GROUP, { normalization: 'meanStd', stepGamma: 0.5 });
    // Episodes 1, 0, −1 have deviation 1. State 0: deviations .5, .25, −.75, variance (.25 + .0625 + .5625)/2 = .4375.
    const std = Math.sqrt(0.4375);
    const half = Math.SQRT1_2; // two members: ±1/√2
    expectClose(advantages, [1 + 0.5 / std, 1 + half, 1, 0.25 / std, -half, -1 - 0.75 / std], 1e-5);
  });

  it('adds epsilon to the deviation of both levels', () => {
    const { advantages } = gigpo(GROUP, { normalization: 'meanStd', stepGamma: 0.5, epsilon: 0.25 });
    // As above: deviation 1 of the episodes, √.4375 of state 0, and of state 1 (½ and 0) √.125.
    const [state0, state1] = [Math.sqrt(0.4375) + 0.25, Math.sqrt(0.125) + 0.25];
    const expected = [0.8 + 0.5 / state0, 0.8 + 0.25 / state1, 0.8];
    expectClose(advantages, [...expected, 0.25 / state0, -0.25 / state1, -0.8 - 0.75 / state0], 1e-5);
    // Differences from the mean are divided by nothing.
    const means = { normalization: 'mean', stepGamma: 0.5 } as const;
    expect([...gigpo(GROUP, { ...means, epsilon: 0.25 }).advantages]).toEqual([
      ...gigpo(GROUP, means).advantages,
    ]);
  });

  it('weights episodes by their steps, like verl-agent, when the option is stepRows', () => {
    const { advantages } = gigpo(GROUP, {
      normalization: 'mean',
      stepGamma: 0.5,
      stepWeight: 0,
      weighting: 'stepRows',
    });
    // rows 1 1 1 0 0 −1, mean 2/6
    expectClose(
      advantages,
      [1, 1, 1, 0, 0, -1].map((value) => value - 1 / 3),
      1e-6,
    );
  });

  it.each([
    ['mean', [1.666667, 1.166667, 0.666667, 0.166667, -0.833333, -2.833333, 0.5]],
    ['meanStd', [2.328351, 2.230705, 0.816495, 0.34768, -1.822457, -3.900774, 0.5]],
  ] as const)(
    "gives verl-agent's numbers with stepRows and %s, on a case worked out by hand",
    (normalization, expected) => {
      /*
       * The group above, and a second one of a single episode with a single step. What verl-agent (gigpo/core_gigpo.py,
       * compute_gigpo_outcome_advantage with modes mean_norm and mean_std_norm, step_advantage_w 2, torch 2.13) gives:
       *   rows of group 0: R = 1 1 1 0 0 −1, mean ⅓, variance (3·(⅔)² + 2·(⅓)² + (4/3)²)/5 = ⅔
       *   state 0: G = ¼ 0 −1, mean −¼, variance .4375; state 1: ½ 0, mean ¼, variance ⅛; state 2 alone: 0
       *   group 1: one row keeps its return ½, and its step is alone: 0
       * row 0: mean ⅔ + 2·½ = 1.666667; meanStd ⅔/√⅔ + 2·½/√.4375 = .816497 + 1.511858 = 2.328355, less for the 1e-6 under both
       */
      const { advantages } = gigpo(
        {
          episodeSteps: Int32Array.of(0, 3, 5, 6, 7),
          stepOffsets: Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7),
          rewards: Float32Array.of(0, 0, 1, 0, 0, -1, 0.5),
          groupIds: Int32Array.of(0, 0, 0, 1),
          anchors: Int32Array.of(0, 1, 2, 0, 1, 0, 0),
        },
        { normalization, stepGamma: 0.5, stepWeight: 2, weighting: 'stepRows' },
      );
      expectClose(advantages, expected, 1e-6);
    },
  );

  it('never compares states of different groups', () => {
    const apart = { ...GROUP, groupIds: Int32Array.of(0, 1, 2) };
    const { advantages, sharedAnchorFraction } = gigpo(apart);
    expect(advantages.every((advantage) => advantage === 0)).toBe(true);
    expect(sharedAnchorFraction).toBe(0);
  });

  it('compares the visits of a state within one episode too, and ignores steps without an anchor', () => {
    const again = { ...GROUP, anchors: Int32Array.of(0, 0, -1, -1, -1, -1) };
    const { advantages, sharedAnchorFraction } = gigpo(again, { normalization: 'mean', stepGamma: 0.5 });
    expectClose(advantages, [1 - 0.125, 1 + 0.125, 1, 0, 0, -1], 1e-6);
    expect(sharedAnchorFraction).toBeCloseTo(2 / 6, 12);
  });

  it('gives every action token of a step the advantage of the step', () => {
    const stepOffsets = Int32Array.of(0, 2, 2, 3, 4, 5, 7);
    const rewards = Float32Array.of(0, 0, 1, 0, 0, -0.5, -0.5);
    const { advantages } = gigpo(
      { ...GROUP, stepOffsets, rewards },
      { normalization: 'mean', stepGamma: 0.5, stepWeight: 2 },
    );
    expectClose(advantages, [2, 2, 1, 0.5, -0.5, -2.5, -2.5], 1e-6);
  });

  it.each(['gigpo', 'biLevelGae'])('%s refuses steps that are not those of the episodes', (estimator) => {
    const batch = { ...GROUP, offsets: Int32Array.of(0, 2, 5, 6), values: new Float32Array(6) };
    expect(catchFault(() => computeAdvantages(estimator, batch)).message).toBe(
      'offsets[1] is 2, must be 3, where the steps of episode 1 begin',
    );
  });

  it('refuses a batch without any anchor, and warns when hardly any anchors match', () => {
    expect(catchFault(() => gigpo({ ...GROUP, anchors: new Int32Array(6).fill(-1) }))).toMatchObject({
      code: 'UNSUPPORTED',
    });
    const batch = { ...GROUP, offsets: Int32Array.of(0, 3, 5, 6) };
    expect(computeAdvantages('gigpo', batch).warnings).toEqual([]);
    const unlike = computeAdvantages('gigpo', { ...batch, anchors: Int32Array.of(0, 1, 2, 3, 4, 5) });
    expect(unlike.statistics.sharedAnchorFraction).toBe(0);
    expect(unlike.warnings).toEqual([expect.stringContaining('only 0.0 % of the steps share an anchor')]);
  });
});
