import { describe, expect, it } from 'vitest';
import { computeAdvantages, computePolicyLoss, gae, gigpo } from '../index.js';
import { catchFault } from '../testing/invalid.js';
import { critic, groupIds, loss, offsets, rewards, steps } from '../testing/valid-arguments.js';

describe('output arrays given by the caller', () => {
  const used = () => new Float32Array(9).fill(NaN);

  it('get the same results as new ones, whatever they contained', () => {
    const output = { advantages: used(), returns: used() };
    for (const mask of [null, Uint8Array.of(1, 0, 1, 1, 0)]) {
      const given = gae({ ...critic, mask, output });
      expect(given).toEqual(gae({ ...critic, mask }));
      expect(given.advantages.buffer).toBe(output.advantages.buffer);
      expect(given.returns.buffer).toBe(output.returns.buffer);
    }
    for (const name of ['grpo', 'rloo', 'opo', 'rae']) {
      const batch = {
        offsets,
        rewards,
        groupIds,
        roleIds: Int32Array.of(0, 0, 0),
        roleBaselines: Float64Array.of(1),
      };
      const { advantages } = computeAdvantages(name, { ...batch, output });
      expect(advantages).toEqual(computeAdvantages(name, batch).advantages);
      expect(advantages.buffer).toBe(output.advantages.buffer);
    }
    const walked = { ...steps, rewards, groupIds, anchors: Int32Array.of(0, 0) };
    expect(gigpo({ ...walked, output })).toEqual(gigpo(walked));
    const terms = { tokenLosses: used(), gradients: used() };
    // Ratios on both sides of the clip, so that some gradients are 0.
    const clipped = { ...loss, logprobs: Float32Array.of(-2, -1.5, -1, -0.7, -0.1) };
    for (const name of ['ppo', 'cispo', 'decoupledPpo']) {
      expect(computePolicyLoss(name, { ...clipped, output: terms })).toEqual(
        computePolicyLoss(name, clipped),
      );
    }
  });

  it('are refused when they are too short', () => {
    const advantages = new Float32Array(4);
    expect(catchFault(() => gae({ ...critic, output: { advantages } }))).toEqual({
      code: 'INVALID_ARGUMENT',
      message: 'output.advantages has 4 entries, must have at least 5',
    });
  });
});
