import { describe, expect, it } from 'vitest';
import {
  aggregationWeights,
  computeAdvantages,
  computePolicyLoss,
  countForAggregation,
  biLevelGae,
  estimateKl,
  gigpo,
  grpo,
  importanceWeights,
  KL_ESTIMATORS,
  rejectTokens,
  reinforcePlusPlus,
  whiten,
} from '@retrace/algorithms';
import {
  allocateRewards,
  registerReward,
  RewardComposer,
  type RewardEpisode,
  type RewardStep,
} from '@retrace/rewards';

/*
 * Mistakes that implementations of this mathematics are known to make, one test each. What happens before the mathematics
 * (token drift, sampling transforms, masks, staleness, replay) is tested where it happens.
 */

const STEP: RewardStep = {
  observation: '',
  action: '',
  parsedAction: null,
  actionValid: true,
  anchor: null,
  reward: 0,
  rewardNames: [],
  rewardValues: [],
  numActionTokens: 1,
};

const episodeOf = (steps: readonly RewardStep[]): RewardEpisode => ({
  environment: 'test',
  task: null,
  steps,
  finalObservation: '',
  endReason: 'terminated',
  success: null,
});

describe('mistakes known from elsewhere', () => {
  it('a missing reward counted as 0 makes its group look better or worse than it is', async () => {
    const { total } = await new RewardComposer([{ reward: 'environment' }]).score(
      episodeOf([{ ...STEP, reward: null }]),
    );
    expect(total).toBeNull();

    // Two episodes failed (−1), the third one's reward is missing: nobody did better than anybody.
    const batch = {
      offsets: Int32Array.of(0, 1, 2, 3),
      rewards: Float32Array.of(-1, -1, 0),
      groupIds: Int32Array.of(0, 0, 0),
    };
    expect(computeAdvantages('grpo', batch).advantages[2]).toBeGreaterThan(1);
    const { advantages } = computeAdvantages('grpo', { ...batch, excluded: Uint8Array.of(0, 0, 1) });
    expect([...advantages]).toEqual([0, 0, 0]);
  });

  it('a composer that swallows the error of a component scores it 0', async () => {
    registerReward(import.meta.url, {
      name: 'alwaysFails',
      description: 'a judge that is down',
      options: {},
      score: () => {
        throw new Error('connection refused');
      },
    });
    const reward = await new RewardComposer([{ reward: 'timePenalty' }, { reward: 'alwaysFails' }]).score(
      episodeOf([STEP]),
    );
    expect(reward.total).toBeNull();
    expect(reward.components[1].fault).toBe('connection refused');
  });

  it('groups of one, of equal returns and of two give NaN or infinity', () => {
    for (const returns of [[3], [3, 3], [3, 4], [0, 0, 0]]) {
      const { advantages } = grpo({
        returns: Float32Array.from(returns),
        groupIds: new Int32Array(returns.length),
      });
      expect(advantages.every(Number.isFinite)).toBe(true);
    }
  });

  it('a standard deviation of rounding noise blows it up to ±1', () => {
    const { advantages } = grpo({ returns: Float64Array.of(0.1 + 0.2, 0.3), groupIds: Int32Array.of(0, 0) });
    expect(advantages.every((advantage) => advantage === 0)).toBe(true);
  });

  it('REINFORCE++ loses the reward that comes after an observation', () => {
    // Two turns of one token with an observation between them: the first one led to the reward of the second.
    const { returns } = reinforcePlusPlus({
      offsets: Int32Array.of(0, 2),
      rewards: Float32Array.of(0, 1),
      gamma: 0.5,
    });
    expect([...returns]).toEqual([0.5, 1]);
  });

  it('denominators taken from the micro-batch make the loss depend on the cut', () => {
    const offsets = Int32Array.of(0, 3, 4);
    const counts = countForAggregation({ offsets });
    const whole = aggregationWeights({ offsets }, { aggregation: 'tokenMean', counts });
    const parts = [Int32Array.of(0, 3), Int32Array.of(0, 1)].flatMap((part) => [
      ...aggregationWeights({ offsets: part }, { aggregation: 'tokenMean', counts }),
    ]);
    expect(parts).toEqual([...whole]);
  });

  it('a straight-through KL that was never run has the gradient of the wrong estimator', () => {
    for (const estimator of KL_ESTIMATORS) {
      const kl = estimateKl(Float32Array.of(-1), Float32Array.of(-1.5), { estimator, straightThrough: true });
      expect(kl.gradients[0]).toBeCloseTo(0.5, 6);
    }
  });

  it('bounds on −log ρ turn an asymmetric range around', () => {
    const input = {
      offsets: Int32Array.of(0, 2),
      proximalLogprobs: Float32Array.of(-2 + Math.log(1.8), -2 + Math.log(0.6)),
      behaviorLogprobs: Float32Array.of(-2, -2),
    };
    const { keep } = rejectTokens(input, { rules: [{ statistic: 'k1', scope: 'token', low: 0.8, high: 2 }] });
    expect([...keep]).toEqual([1, 0]);
  });

  it('GiGPO over step rows lets long episodes decide the mean of their group', () => {
    const input = {
      episodeSteps: Int32Array.of(0, 3, 4),
      stepOffsets: Int32Array.of(0, 1, 2, 3, 4),
      rewards: Float32Array.of(0, 0, 0, 1),
      groupIds: Int32Array.of(0, 0),
      anchors: Int32Array.of(0, 1, 2, 3),
    };
    const [long, , , short] = gigpo(input, { normalization: 'mean' }).advantages;
    expect([long, short]).toEqual([-0.5, 0.5]);
    const rows = gigpo(input, { normalization: 'mean', weighting: 'stepRows' }).advantages;
    expect([rows[0], rows[3]]).toEqual([-0.25, 0.75]);
  });

  it('a penalty added after the returns never reaches the steps before it', async () => {
    const steps = [STEP, { ...STEP, actionValid: false }];
    const { stepRewards, episodeReward } = await new RewardComposer([
      { reward: 'environment' },
      { reward: 'invalidAction', options: { penalty: 1 } },
    ]).score(episodeOf(steps));
    const rewards = allocateRewards(
      {
        episodeSteps: Int32Array.of(0, 2),
        stepOffsets: Int32Array.of(0, 1, 2),
        episodeRewards: Float64Array.of(episodeReward),
        stepRewards,
      },
      { rule: 'perStep' },
    );
    const { returns } = reinforcePlusPlus({ offsets: Int32Array.of(0, 2), rewards, gamma: 1 });
    expect([...returns]).toEqual([-1, -1]);
  });

  it('turn ends guessed from rewards that are not 0 miss every turn without one', () => {
    const input = {
      episodeSteps: Int32Array.of(0, 2),
      rewards: Float32Array.of(0, 0, 0, 1),
      values: Float32Array.of(0.1, 0.2, 0.3, 0.4),
      turnGamma: 0.5,
      gamma: 1,
      lambda: 1,
    };
    const recorded = biLevelGae({ ...input, stepOffsets: Int32Array.of(0, 2, 4) });
    const guessed = biLevelGae({ ...input, stepOffsets: Int32Array.of(0, 0, 4) });
    // The first turn ends at its second token, where the second turn's value is discounted once per turn.
    expect(recorded.advantages[1]).toBeCloseTo(0.5 * 1 - 0.2, 6);
    expect(guessed.advantages[1]).toBeCloseTo(1 - 0.2, 6);
  });

  it('a product of ratios explodes with the length of a sequence, silently', () => {
    const numTokens = 100;
    const input = {
      offsets: Int32Array.of(0, numTokens),
      proximalLogprobs: new Float32Array(numTokens).fill(-1 + Math.log(1.1)),
      behaviorLogprobs: new Float32Array(numTokens).fill(-1),
    };
    const product = importanceWeights(input, { level: 'sequence', cap: 2 });
    expect(product.maxRawWeight).toBeGreaterThan(13_000);
    expect(product.warnings).toHaveLength(1);
    expect(importanceWeights(input, { level: 'geometric', cap: 2 }).maxRawWeight).toBeCloseTo(1.1, 4);
  });

  it('the effective sample size of truncated weights looks perfect when it is worst', () => {
    const input = {
      offsets: Int32Array.of(0, 4),
      proximalLogprobs: Float32Array.of(-1, -1, -1, -1),
      behaviorLogprobs: Float32Array.of(-9, -1, -1, -1),
    };
    const { effectiveSampleFraction, weights } = importanceWeights(input, { level: 'token', cap: 1 });
    expect([...weights]).toEqual([1, 1, 1, 1]);
    expect(effectiveSampleFraction).toBeCloseTo(0.25, 2);
  });

  it('an empty mask throws, or becomes NaN in the metrics', () => {
    expect([...whiten(Float32Array.of(1, 2), Uint8Array.of(0, 0))]).toEqual([0, 0]);
    const offsets = Int32Array.of(0, 0);
    const none = new Float32Array(0);
    const input = { offsets, logprobs: none, proximalLogprobs: none, advantages: none, weights: none };
    const { loss, statistics } = computePolicyLoss('ppo', input);
    expect(loss).toBe(0);
    expect(Object.values(statistics).every(Number.isFinite)).toBe(true);
    expect(
      aggregationWeights({ offsets }, { aggregation: 'tokenMean', counts: countForAggregation({ offsets }) }),
    ).toHaveLength(0);
  });
});
