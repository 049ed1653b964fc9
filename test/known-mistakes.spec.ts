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
import { RewardScorer } from '@retrace/rewards/scoring';
import {
  buildTokenBatch,
  ControlFold,
  EpisodeFold,
  episodeIdFor,
  EVENT_KINDS,
  type AnyEvent,
  type EpisodeColumns,
} from '@retrace/trajectory';
import { columnsFromTokens, sampleControlEvent, sampleEpisodeEvent } from '@retrace/trajectory/testing';
import { assertAccountedLogprobs } from '../apps/trainer/src/update/read-batch.js';
import { EVENT_FIELDS } from '../libs/trajectory/src/events/event-fields.js';

/* Mistakes that implementations of this mathematics, and of what brings data to it, are known to make: one test a number. */

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

const [OBSERVED, WORD, SPLIT] = [7, 8, 9];
const RUN_ID = '01936d00-0000-7000-8000-00000000b001';
const EPISODE_ID = episodeIdFor({ runId: RUN_ID, ordinal: 0 });

/** One episode in one growing context: each step an observed token, then the tokens of the action, with a reward of 1. */
function columnsOf(actions: readonly (readonly number[])[]): EpisodeColumns {
  const steps = actions.map((action) => ({ observation: [OBSERVED], action, policyVersions: 4 }));
  return columnsFromTokens([{ episodeId: EPISODE_ID, steps }]);
}

const episodeOf = (steps: readonly RewardStep[]): RewardEpisode => ({
  environment: 'test',
  task: null,
  steps,
  finalObservation: '',
  endReason: 'terminated',
  success: null,
});

describe('mistakes known from elsewhere', () => {
  it('1. decoding and encoding again gives the trainer other tokens than were sampled', () => {
    // Two tokens that spell one word, which an encoder would join: they come back as they were sampled.
    const { tokenIds, actionTokens } = buildTokenBatch(columnsOf([[SPLIT, WORD, SPLIT, SPLIT]]));
    expect(Array.from(actionTokens, (n) => tokenIds[n])).toEqual([SPLIT, WORD, SPLIT, SPLIT]);
    // A prompt that does not extend the context it claims to keep is refused.
    expect(() =>
      buildTokenBatch({ ...columnsOf([[WORD], [WORD]]), keptPrefixTokens: Int32Array.of(0, 9) }),
    ).toThrow(/keptPrefixTokens of step 1/);
  });

  it('2. a missing reward counted as 0 makes its group look better or worse than it is', async () => {
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

  it('3. a composer that swallows the error of a component scores it 0', async () => {
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

  it('4. groups of one, of equal returns and of two give NaN or infinity', () => {
    for (const returns of [[3], [3, 3], [3, 4], [0, 0, 0]]) {
      const { advantages } = grpo({
        returns: Float32Array.from(returns),
        groupIds: new Int32Array(returns.length),
      });
      expect(advantages.every(Number.isFinite)).toBe(true);
    }
  });

  it('5. a standard deviation of rounding noise blows it up to ±1', () => {
    const { advantages } = grpo({ returns: Float64Array.of(0.1 + 0.2, 0.3), groupIds: Int32Array.of(0, 0) });
    expect(advantages.every((advantage) => advantage === 0)).toBe(true);
  });

  it('6. REINFORCE++ loses the reward that comes after an observation', () => {
    // Two turns of one token with an observation between them: the first one led to the reward of the second.
    const { returns } = reinforcePlusPlus({
      offsets: Int32Array.of(0, 2),
      rewards: Float32Array.of(0, 1),
      gamma: 0.5,
    });
    expect([...returns]).toEqual([0.5, 1]);
  });

  it('7. texts of people and environments are trained on as if the policy had written them', () => {
    const columns = columnsOf([[WORD, WORD], [WORD]]);
    const { actionMask, actionTokens, tokenIds } = buildTokenBatch(columns);
    expect(actionTokens).toHaveLength(3);
    expect(Array.from(tokenIds, (id, n) => id === OBSERVED && actionMask[n] === 1)).not.toContain(true);
  });

  it('8. denominators taken from the micro-batch make the loss depend on the cut', () => {
    const offsets = Int32Array.of(0, 3, 4);
    const counts = countForAggregation({ offsets });
    const whole = aggregationWeights({ offsets }, { aggregation: 'tokenMean', counts });
    const parts = [Int32Array.of(0, 3), Int32Array.of(0, 1)].flatMap((part) => [
      ...aggregationWeights({ offsets: part }, { aggregation: 'tokenMean', counts }),
    ]);
    expect(parts).toEqual([...whole]);
  });

  it('9. a straight-through KL that was never run has the gradient of the wrong estimator', () => {
    for (const estimator of KL_ESTIMATORS) {
      const kl = estimateKl(Float32Array.of(-1), Float32Array.of(-1.5), { estimator, straightThrough: true });
      expect(kl.gradients[0]).toBeCloseTo(0.5, 6);
    }
  });

  it('10. bounds on −log ρ turn an asymmetric range around', () => {
    const input = {
      offsets: Int32Array.of(0, 2),
      proximalLogprobs: Float32Array.of(-2 + Math.log(1.8), -2 + Math.log(0.6)),
      behaviorLogprobs: Float32Array.of(-2, -2),
    };
    const { keep } = rejectTokens(input, { rules: [{ statistic: 'k1', scope: 'token', low: 0.8, high: 2 }] });
    expect([...keep]).toEqual([1, 0]);
  });

  it('11. logprobs of another sampling transform than the one that was sampled from', () => {
    const columns = columnsOf([[WORD]]);
    const check =
      (change: Partial<EpisodeColumns>, temperature = 1) =>
      () => {
        assertAccountedLogprobs({ ...columns, ...change }, buildTokenBatch(columns), { temperature });
      };
    expect(check({})).not.toThrow();
    expect(check({}, 0.7)).toThrow(/sampled at temperature 1; must be 0.7/);
    // Under top-k or top-p a token can leave the policy's support: the reader marks such steps as it does greedy ones.
    expect(check({ greedy: Uint8Array.of(1) })).toThrow(/top-k, top-p/);
  });

  it('12. staleness is counted anew after a restart', () => {
    const events = [
      sampleControlEvent('RunStarted'),
      sampleControlEvent('TrainerClaimed', { epoch: 0 }),
      ...[0, 1, 2, 3].map((policyVersion) =>
        sampleControlEvent('PolicyPublished', {
          policyVersion,
          parentVersion: policyVersion === 0 ? null : policyVersion - 1,
          updateNumber: policyVersion,
          epoch: 0,
        }),
      ),
    ].map((event, i) => ({ ...event, eventId: `01936d00-0000-7000-8000-${String(i).padStart(12, '0')}` }));
    const fold = (given: typeof events) => {
      const folded = new ControlFold();
      given.forEach((event, offset) => folded.apply(event as AnyEvent, offset));
      return folded.runs[0];
    };
    // Whoever starts folds the log, and nothing is kept beside it.
    expect(fold(events).stalenessOf(1)).toBe(2);
    expect(fold(events.slice(0, -1)).stalenessOf(1)).toBe(1);
  });

  it('13. one policy version for an episode, although weights changed inside it', () => {
    const columns = columnsOf([[WORD, WORD], [WORD]]);
    const tokenPolicyVersions = columns.tokenPolicyVersions.map((_, n) => (n < 3 ? 4 : 5));
    const batch = buildTokenBatch({ ...columns, tokenPolicyVersions });
    expect(Array.from(batch.actionTokens, (n) => batch.policyVersions[n])).toEqual([4, 4, 5]);
  });

  it('14. GiGPO over step rows lets long episodes decide the mean of their group', () => {
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

  it('15. a penalty added after the returns never reaches the steps before it', async () => {
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

  it('15. rows that are there twice count twice in the statistics of their group', () => {
    const fold = new EpisodeFold({ runId: RUN_ID, episodeId: EPISODE_ID });
    const event = sampleEpisodeEvent('StepRecorded');
    const of = { ...event, runId: RUN_ID, episodeId: EPISODE_ID };
    expect([fold.apply(of), fold.apply(of)]).toEqual(['applied', 'duplicate']);
  });

  it('16. turn ends guessed from rewards that are not 0 miss every turn without one', () => {
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

  it('17. a product of ratios explodes with the length of a sequence, silently', () => {
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

  it('18. the effective sample size of truncated weights looks perfect when it is worst', () => {
    const input = {
      offsets: Int32Array.of(0, 4),
      proximalLogprobs: Float32Array.of(-1, -1, -1, -1),
      behaviorLogprobs: Float32Array.of(-9, -1, -1, -1),
    };
    const { effectiveSampleFraction, weights } = importanceWeights(input, { level: 'token', cap: 1 });
    expect([...weights]).toEqual([1, 1, 1, 1]);
    expect(effectiveSampleFraction).toBeCloseTo(0.25, 2);
  });

  it('19. a replay whose batch degenerates passes all the same', async () => {
    // An update made again is held to the rewards that it had, episode by episode; a batch of other shape has none of them.
    const scorer = new RewardScorer({
      components: [{ reward: 'environment' }],
      allocation: 'perStep',
      allocationGamma: 1,
    });
    const columns = columnsOf([[WORD], [WORD]]);
    const batch = buildTokenBatch(columns);
    const { totals } = await scorer.score({ columns, batch, texts: null });
    expect([...totals]).toEqual([2]);
    const again = (change: Partial<EpisodeColumns>, recordedTotals: Float64Array) =>
      scorer.score({ columns: { ...columns, ...change }, batch, texts: null, recordedTotals });
    await expect(again({}, totals)).resolves.toMatchObject({ numMissing: 0 });
    await expect(again({ rewards: Float64Array.of(1, 0) }, totals)).rejects.toMatchObject({
      code: 'REWARD_CHANGED',
    });
    expect(() => buildTokenBatch({ ...columns, actionMask: new Uint8Array(1) })).toThrow(/actionMask/);
  });

  it('20. advantages stored with the data outlive the rewards they were made of', () => {
    // What an update made of its episodes is recorded with that update, for people to read. No update reads it.
    const ofData = EVENT_KINDS.filter((kind) => kind !== 'UpdateTraced' && kind !== 'UpdateTokensTraced');
    const fields = ofData.flatMap((kind) => Object.keys(EVENT_FIELDS[kind]));
    expect(fields).toContain('tokenLogprobs');
    expect(fields.filter((field) => /advantage|return/i.test(field))).toEqual(['return']);
    // The return of a sealed episode is the environment's own: what training makes of it is a reward version, computed from steps.
    expect(Object.keys(EVENT_FIELDS.StepRecorded).filter((field) => /advantage|return/i.test(field))).toEqual(
      [],
    );
  });

  it('21. an empty mask throws, or becomes NaN in the metrics', () => {
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
