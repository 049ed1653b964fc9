import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import type { UpdateOutcome } from '../steps/optimizer-steps.js';
import { describeLearning, learnedTokens, stepMetrics } from './metrics.js';

const trainedMask = Uint8Array.of(0, 1, 1, 1, 1);
const advantages = Float32Array.of(9, 0.5, 0, -1, 2);

describe('tokens that an update learned from', () => {
  it('are trained, neither rejected nor weighted 0, and have an advantage other than 0', () => {
    expect(learnedTokens({ trainedMask, keptMask: null, advantages })).toEqual({
      numTrained: 4,
      numKept: 4,
      numLearned: 3,
    });
    const keptMask = Uint8Array.of(0, 1, 1, 0, 1);
    const importanceWeights = Float32Array.of(0, 1, 1, 1, 0);
    expect(learnedTokens({ trainedMask, keptMask, importanceWeights, advantages })).toEqual({
      numTrained: 4,
      numKept: 2,
      numLearned: 1,
    });
  });

  it('are all trained ones in imitation, which has no advantages', () => {
    expect(describeLearning({ trainedMask, keptMask: null }, null)).toEqual({
      metrics: [['train/numLearnedTokens', 4]],
      alarm: null,
    });
  });
});

describe('an update that learned from nothing', () => {
  const scored = { totals: new Float64Array(3), numMissing: 2, episodesToTrain: new Uint8Array(3) };
  it.each([
    [
      { trainedMask: new Uint8Array(5), keptMask: null, advantages },
      'nothing was trained, the policy stays as it was: of 3 episodes none has both a reward and action tokens to train (2 without a reward)',
    ],
    [
      { trainedMask, keptMask: new Uint8Array(5), advantages },
      'the policy learned nothing from its rewards: rollout correction rejected all 4 action tokens',
    ],
    [
      { trainedMask, keptMask: null, advantages: new Float32Array(5) },
      'the policy learned nothing from its rewards: the advantages of all 4 action tokens are 0, as when the episodes of each group have equal rewards',
    ],
  ])('is an alarm that says why', (columns, alarm) => {
    expect(describeLearning(columns, scored)).toEqual({ metrics: [['train/numLearnedTokens', 0]], alarm });
  });

  it('names the truncated episodes that the recipe leaves out', () => {
    const masked = { ...scored, numMissing: 1, episodesToTrain: Uint8Array.of(1, 1, 0) };
    expect(
      describeLearning({ trainedMask: new Uint8Array(5), keptMask: null, advantages }, masked).alarm,
    ).toBe(
      'nothing was trained, the policy stays as it was: all 2 episodes with a reward were truncated, and loss.maskTruncated leaves those out',
    );
  });

  it('is one in imitation too, where no demonstration has a token that may be imitated', () => {
    expect(describeLearning({ trainedMask: new Uint8Array(2), keptMask: null }, null).alarm).toBe(
      'nothing was trained, the policy stays as it was: the demonstrations have no action tokens, or their environment failed',
    );
  });
});

it('the fraction of clipped values is measured only where a recipe has a bound: neither with null nor without the field', () => {
  const outcome = {
    ...{ loss: 1, policyLoss: 1, valueLoss: 1, entropy: 1, kl: 0, clipFraction: 0, valueClipFraction: 0.25 },
    ...{ approximateKl: 0, gradientNorm: 1, criticGradientNorm: Number.NaN },
  } as UpdateOutcome;
  const figures = { outcome, learningRate: 1, klCoefficient: 0, entropyCoefficient: 0, guard: null };
  const clippedWith = (valueClip: number | null | undefined) => {
    const { loss, optimizer } = resolveRecipe('bandit-ppo');
    const metrics = stepMetrics({ loss: { ...loss, valueCoefficient: 0.5, valueClip }, optimizer }, figures);
    return new Map(metrics).get('train/valueClipFraction');
  };
  expect([0.2, null, undefined].map(clippedWith)).toEqual([0.25, Number.NaN, Number.NaN]);
});
