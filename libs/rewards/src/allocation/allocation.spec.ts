import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ALLOCATION_RULES,
  allocateRewards,
  type AllocationInput,
  type AllocationOptions,
} from './allocation.js';

/** One episode with steps of these many action tokens. */
function oneEpisode(
  stepLengths: readonly number[],
  episodeReward: number,
  stepRewards?: readonly number[],
): AllocationInput {
  const stepOffsets = [0];
  for (const length of stepLengths) stepOffsets.push(stepOffsets[stepOffsets.length - 1] + length);
  return {
    episodeSteps: Int32Array.of(0, stepLengths.length),
    stepOffsets: Int32Array.from(stepOffsets),
    episodeRewards: Float64Array.of(episodeReward),
    stepRewards: Float64Array.from(stepRewards ?? stepLengths.map(() => 0)),
  };
}

const sum = (values: Float32Array): number => values.reduce((total, value) => total + value, 0);
const allocate = (input: AllocationInput, options: AllocationOptions): number[] => [
  ...allocateRewards(input, options),
];

describe('allocateRewards', () => {
  it('lastToken: all on the last action token, step rewards joined in', () => {
    expect(allocate(oneEpisode([2, 1], 1, [0.5, -0.25]), { rule: 'lastToken' })).toEqual([0, 0, 1.25]);
  });

  it('uniformPositive: evenly when positive, on the last token when not', () => {
    expect(allocate(oneEpisode([2, 2], 1), { rule: 'uniformPositive' })).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect(allocate(oneEpisode([2, 2], -1), { rule: 'uniformPositive' })).toEqual([0, 0, 0, -1]);
  });

  it('discounted: shares ∝ γ^(action tokens after the step), evenly inside it', () => {
    // shares .5¹ and .5⁰ of steps with 2 and 1 tokens: 1/3 over two tokens, 2/3 on one
    const rewards = allocate(oneEpisode([2, 1], 3), { rule: 'discounted', gamma: 0.5 });
    expect(rewards).toEqual([0.5, 0.5, 2]);
  });

  it.each([
    [1, 3.0],
    [0.99, 2.05],
    [0.95, 1.09],
  ])('discountedLegacy: does not conserve the reward (γ = %f hands out %f)', (gamma, total) => {
    const rewards = allocateRewards(oneEpisode([40, 30, 50], 1), { rule: 'discountedLegacy', gamma });
    expect(sum(rewards)).toBeCloseTo(total, 2);
  });

  it('perStep: each step on its last action token, the episode on the last of all', () => {
    expect(allocate(oneEpisode([2, 1, 2], 10, [1, 2, 4]), { rule: 'perStep' })).toEqual([0, 1, 2, 0, 14]);
  });

  it('perStep: a step without action tokens hands its reward to the step before it, the first ones to the first with some', () => {
    expect(allocate(oneEpisode([0, 2, 0, 1, 0], 0, [1, 2, 4, 8, 16]), { rule: 'perStep' })).toEqual([
      0, 7, 24,
    ]);
  });

  const episodes = fc.array(
    fc.record({
      lengths: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 6 }),
      reward: fc.double({ min: -2, max: 2, noNaN: true }),
      stepReward: fc.double({ min: -1, max: 1, noNaN: true }),
    }),
    { maxLength: 6 },
  );
  const conserving = ALLOCATION_RULES.filter((rule) => rule !== 'discountedLegacy');

  it.each(conserving)('%s conserves the reward of every episode that has action tokens', (rule) => {
    fc.assert(
      fc.property(episodes, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, gamma) => {
        for (const { lengths, reward, stepReward } of drawn) {
          const input = oneEpisode(
            lengths,
            reward,
            lengths.map(() => stepReward),
          );
          const expected = lengths.some((length) => length > 0) ? reward + lengths.length * stepReward : 0;
          expect(sum(allocateRewards(input, { rule, gamma }))).toBeCloseTo(expected, 5);
        }
      }),
    );
  });

  it.each(ALLOCATION_RULES)('%s treats the episodes of a batch apart', (rule) => {
    fc.assert(
      fc.property(episodes, (drawn) => {
        const alone = drawn.map(({ lengths, reward, stepReward }) =>
          oneEpisode(
            lengths,
            reward,
            lengths.map(() => stepReward),
          ),
        );
        const options = { rule, gamma: 0.9 };
        expect(allocate(concatenate(alone), options)).toEqual(
          alone.flatMap((input) => allocate(input, options)),
        );
      }),
    );
  });

  it.each<[string, Partial<AllocationInput>, AllocationOptions]>([
    ["rule is 'evenly'", {}, { rule: 'evenly' as 'perStep' }],
    ['gamma is 1.5', {}, { rule: 'discounted', gamma: 1.5 }],
    ['episodeRewards[0] is NaN', { episodeRewards: Float64Array.of(Number.NaN) }, { rule: 'perStep' }],
    ['stepRewards has 1 entries, must have 2', { stepRewards: new Float64Array(1) }, { rule: 'perStep' }],
    ['stepOffsets[2] is 1, must not be less', { stepOffsets: Int32Array.of(0, 2, 1) }, { rule: 'perStep' }],
    ['stepOffsets has 2 entries, must have 3', { stepOffsets: Int32Array.of(0, 2) }, { rule: 'perStep' }],
  ])('refuses: %s', (message, change, options) => {
    expect(() => allocateRewards({ ...oneEpisode([1, 1], 1), ...change }, options)).toThrowError(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
  });
});

function concatenate(inputs: readonly AllocationInput[]): AllocationInput {
  const episodeSteps = [0];
  const stepOffsets = [0];
  for (const input of inputs) {
    episodeSteps.push(episodeSteps[episodeSteps.length - 1] + input.stepRewards.length);
    const base = stepOffsets[stepOffsets.length - 1];
    stepOffsets.push(...[...input.stepOffsets.slice(1)].map((offset) => base + offset));
  }
  return {
    episodeSteps: Int32Array.from(episodeSteps),
    stepOffsets: Int32Array.from(stepOffsets),
    episodeRewards: Float64Array.from(inputs.flatMap((input) => [...input.episodeRewards])),
    stepRewards: Float64Array.from(inputs.flatMap((input) => [...input.stepRewards])),
  };
}
