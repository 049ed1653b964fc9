import { describe, expect, it } from 'vitest';
import {
  OFF_POLICY_ESTIMATORS,
  bootstrapInterval,
  crossFitLinearQ,
  evaluateOffPolicy,
  fittedQEvaluation,
  type LoggedEpisodes,
  type OffPolicyEstimate,
  type OffPolicyEvaluation,
} from '../index.js';
import { RegressionSystem, dot } from './linear-q.js';
import { catchFault } from '../testing/invalid.js';
import { seededRandom } from '../testing/random.js';
import { sampleTabular, trueValue, type LoggedTabular, type TabularPolicy } from '../testing/tabular-mdp.js';

const GAMMA = 0.9;
const BEHAVIOR: TabularPolicy = [0.5, 0.5];
const CANDIDATE: TabularPolicy = [0.8, 0.3];
const BOOTSTRAP = { numResamples: 200, level: 0.95, seed: 3 };
const OPTIONS = { estimators: OFF_POLICY_ESTIMATORS, gamma: GAMMA, bootstrap: BOOTSTRAP };

function sample(numEpisodes: number, seed: number): LoggedTabular & { readonly withQ: LoggedEpisodes } {
  const logged = sampleTabular(numEpisodes, { behavior: BEHAVIOR, candidate: CANDIDATE }, seededRandom(seed));
  return {
    ...logged,
    withQ: { ...logged.episodes, ...crossFitLinearQ(logged.transitions, { gamma: GAMMA }) },
  };
}

/** Every episode `times` over, in its group. */
function copiesOf(episodes: LoggedEpisodes, times: number): LoggedEpisodes {
  const numEpisodes = episodes.offsets.length - 1;
  const rows = Array.from({ length: times * numEpisodes }, (_, i) => i % numEpisodes);
  const spread = (values: Float32Array) =>
    Float32Array.from(
      rows.flatMap((e) => [...values.subarray(episodes.offsets[e], episodes.offsets[e + 1])]),
    );
  const offsets = [0];
  for (const e of rows)
    offsets.push(offsets[offsets.length - 1] + episodes.offsets[e + 1] - episodes.offsets[e]);
  return {
    offsets: Int32Array.from(offsets),
    rewards: spread(episodes.rewards),
    candidateLogprobs: spread(episodes.candidateLogprobs),
    behaviorLogprobs: spread(episodes.behaviorLogprobs),
    groupIds: Int32Array.from(rows),
  };
}

function estimatesOf(evaluation: OffPolicyEvaluation): readonly OffPolicyEstimate[] {
  if (evaluation.kind === 'refused') throw new Error(evaluation.reason);
  return evaluation.estimates;
}

describe('evaluateOffPolicy', () => {
  it('gives the values of the formulas, as worked out by hand', () => {
    const half = Math.log(0.5);
    const episodes: LoggedEpisodes = {
      offsets: Int32Array.of(0, 2, 3),
      rewards: Float32Array.of(1, 2, 4),
      // ratios 2, ½ | ½
      candidateLogprobs: Float32Array.of(0, 2 * half, 2 * half),
      behaviorLogprobs: Float32Array.of(half, half, half),
      qValues: Float32Array.of(1, 1, 1),
      stateValues: Float32Array.of(3, 3, 3),
    };
    const options = {
      estimators: OFF_POLICY_ESTIMATORS,
      gamma: 0.5,
      minEffectiveEpisodes: 1,
      bootstrap: BOOTSTRAP,
    };
    const evaluation = evaluateOffPolicy(episodes, options);
    // G = 1 + ½·2 = 2 and 4; w = 1 and ½.
    const values = Object.fromEntries(
      estimatesOf(evaluation).map(({ estimator, value }) => [estimator, value]),
    );
    expect(values.importanceSampling).toBeCloseTo((1 * 2 + 0.5 * 4) / 2, 6);
    expect(values.weightedImportanceSampling).toBeCloseTo((1 * 2 + 0.5 * 4) / 1.5, 6);
    expect(values.perDecision).toBeCloseTo((2 * 1 + 0.5 * 1 * 2 + 0.5 * 4) / 2, 6);
    // first: 2·(1 − 1) + 3 + ½(1·(2 − 1) + 2·3) = 6.5; second: ½·(4 − 1) + 3 = 4.5
    expect(values.doublyRobust).toBeCloseTo((6.5 + 4.5) / 2, 6);
    expect(evaluation.diagnostics.effectiveEpisodes).toBeCloseTo(1.5 ** 2 / 1.25, 6);
    expect(evaluation.diagnostics.chiSquare).toBeCloseTo(1.25 / 2 - 1, 6);
    expect(evaluation.diagnostics.largestWeightShare).toBeCloseTo(1 / 1.5, 6);
    expect(evaluation.diagnostics.meanWeight).toBeCloseTo(0.75, 6);
    // deviations ±¼: s² = ⅛, over √2
    expect(evaluation.diagnostics.meanWeightError).toBeCloseTo(0.25, 6);
  });

  it('gives the mean return with every estimator when the candidate is the behavior policy', () => {
    const { episodes } = sampleTabular(50, { behavior: BEHAVIOR, candidate: BEHAVIOR }, seededRandom(1));
    const estimators = ['importanceSampling', 'perDecision', 'weightedImportanceSampling'] as const;
    const evaluation = evaluateOffPolicy(episodes, { ...OPTIONS, estimators });
    const [first, ...others] = estimatesOf(evaluation).map(({ value }) => value);
    for (const value of others) expect(value).toBeCloseTo(first, 5);
    expect(evaluation.diagnostics).toMatchObject({ numEpisodes: 50 });
    expect(evaluation.diagnostics.effectiveEpisodes).toBeCloseTo(50, 9);
    expect(evaluation.diagnostics.chiSquare).toBeCloseTo(0, 9);
  });

  it(
    'finds the true value on average, and its intervals hold it as often as they say',
    { timeout: 120_000 },
    () => {
      const truth = trueValue(CANDIDATE, GAMMA);
      const numSeeds = 150;
      const values = new Map<string, number[]>();
      const covered = new Map<string, number>();
      for (let seed = 0; seed < numSeeds; seed++) {
        const { withQ, transitions } = sample(150, seed);
        const fitted = fittedQEvaluation(transitions, {
          gamma: GAMMA,
          bootstrap: { ...BOOTSTRAP, numResamples: 40 },
        });
        for (const { estimator, value, interval } of [
          ...estimatesOf(evaluateOffPolicy(withQ, OPTIONS)),
          { estimator: 'fittedQ', ...fitted },
        ]) {
          values.set(estimator, [...(values.get(estimator) ?? []), value]);
          covered.set(
            estimator,
            (covered.get(estimator) ?? 0) + Number(interval.low <= truth && truth <= interval.high),
          );
        }
      }
      for (const [estimator, found] of values) {
        const mean = found.reduce((sum, value) => sum + value, 0) / numSeeds;
        const variance = found.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (numSeeds - 1);
        expect(Math.abs(mean - truth), estimator).toBeLessThan(4 * Math.sqrt(variance / numSeeds));
        // 95 % intervals over 150 seeds: four standard errors below is .88
        expect((covered.get(estimator) ?? 0) / numSeeds, estimator).toBeGreaterThan(0.88);
      }
      const spread = (name: string): number => {
        const found = values.get(name) ?? [];
        return Math.max(...found) - Math.min(...found);
      };
      expect(spread('doublyRobust')).toBeLessThan(spread('perDecision'));
      expect(spread('perDecision')).toBeLessThan(spread('importanceSampling'));
    },
  );

  it('refuses when a few episodes have all the weight, and says how many would be enough', () => {
    const candidate: TabularPolicy = [0.999, 0.999];
    const logged = sampleTabular(60, { behavior: [0.2, 0.2], candidate }, seededRandom(5));
    const evaluation = evaluateOffPolicy(logged.episodes, { ...OPTIONS, estimators: ['perDecision'] });
    expect(evaluation.kind).toBe('refused');
    expect(evaluation).toHaveProperty(
      'reason',
      expect.stringMatching(
        /^60 episodes count as \d+\.\d effective ones, at least 30 \(minEffectiveEpisodes\) are needed .* about \d+ more episodes .* candidate itself, would do/,
      ),
    );
  });

  it('refuses when the behavior policy never acts like the candidate, so that all weights are equally small', () => {
    const episodesOf = (candidate: number, behavior: number): LoggedEpisodes => ({
      offsets: Int32Array.from({ length: 101 }, (_, e) => e),
      rewards: Float32Array.from({ length: 100 }, (_, e) => e % 2),
      candidateLogprobs: new Float32Array(100).fill(candidate),
      behaviorLogprobs: new Float32Array(100).fill(behavior),
    });
    const options = { ...OPTIONS, estimators: ['weightedImportanceSampling'] as const };
    const tiny = evaluateOffPolicy(episodesOf(-20, 0), options);
    expect(tiny).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/^the mean importance weight is 2\.06e-9.* of the candidate/) as string,
    });
    expect(tiny.diagnostics.effectiveEpisodes).toBeCloseTo(100, 9);
    expect(tiny.diagnostics.meanWeight / Math.exp(-20)).toBeCloseTo(1, 9);
    // half of the candidate's probability is on what the behavior never does
    expect(evaluateOffPolicy(episodesOf(Math.log(0.5), 0), options).kind).toBe('refused');
    // recorded logprobs that cannot be those of the policy that acted
    expect(evaluateOffPolicy(episodesOf(-1, -2), options)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('recorded logprobs') as string,
    });
    expect(evaluateOffPolicy(episodesOf(-1.05, -1), options).kind).toBe('estimated');
  });

  it('does not narrow the interval when episodes of a group are repeated', () => {
    const { episodes } = sampleTabular(100, { behavior: BEHAVIOR, candidate: CANDIDATE }, seededRandom(4));
    const twice = copiesOf(episodes, 2);
    const estimators = ['importanceSampling', 'perDecision', 'weightedImportanceSampling'] as const;
    const options = { ...OPTIONS, estimators };
    const once = evaluateOffPolicy(episodes, options);
    const grouped = evaluateOffPolicy(twice, options);
    for (const [i, { value, interval }] of estimatesOf(grouped).entries()) {
      expect(value).toBeCloseTo(estimatesOf(once)[i].value, 9);
      expect(interval.low).toBeCloseTo(estimatesOf(once)[i].interval.low, 9);
      expect(interval.high).toBeCloseTo(estimatesOf(once)[i].interval.high, 9);
    }
    expect(grouped.diagnostics.numGroups).toBe(100);
    expect(grouped.diagnostics.effectiveGroups).toBeCloseTo(once.diagnostics.effectiveEpisodes, 6);
    expect(grouped.diagnostics.meanWeightError).toBeCloseTo(once.diagnostics.meanWeightError, 9);
    const apart = evaluateOffPolicy({ ...twice, groupIds: null }, options);
    const widthOf = ({ interval }: OffPolicyEstimate) => interval.high - interval.low;
    expect(widthOf(estimatesOf(apart)[0]) / widthOf(estimatesOf(grouped)[0])).toBeLessThan(0.85);
  });

  it('refuses episodes of only a few groups, and says how many would be enough', () => {
    const policies = { behavior: BEHAVIOR, candidate: BEHAVIOR, groupSize: 50 };
    const { episodes } = sampleTabular(200, policies, seededRandom(1));
    expect(evaluateOffPolicy(episodes, { ...OPTIONS, estimators: ['perDecision'] })).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(
        /^200 episodes of 4 groups count as 4\.0 effective groups, at least 10 .* about 6 more groups/,
      ) as string,
    });
  });

  it('accepts a mean weight that differs from 1 only by chance', () => {
    const policies = { behavior: BEHAVIOR, candidate: CANDIDATE };
    const refused = Array.from({ length: 100 }, (_, seed) =>
      evaluateOffPolicy(sampleTabular(150, policies, seededRandom(seed)).episodes, {
        ...OPTIONS,
        estimators: [],
      }),
    ).filter(({ kind }) => kind === 'refused');
    expect(refused).toEqual([]);
  });

  it('refuses without episodes, and weights that would overflow', () => {
    const nothing = {
      offsets: Int32Array.of(0),
      rewards: new Float32Array(0),
      candidateLogprobs: new Float32Array(0),
      behaviorLogprobs: new Float32Array(0),
    };
    expect(evaluateOffPolicy(nothing, { ...OPTIONS, estimators: [] })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('there are no episodes') as string,
    });
    const huge = {
      offsets: Int32Array.of(0, 1, 2),
      rewards: Float32Array.of(1, 1),
      candidateLogprobs: Float32Array.of(-1, -1),
      behaviorLogprobs: Float32Array.of(-2000, -1),
    };
    expect(evaluateOffPolicy(huge, { ...OPTIONS, estimators: [] })).toMatchObject({
      kind: 'refused',
      diagnostics: { effectiveEpisodes: 1, largestWeightShare: 1 },
    });
  });

  it('refuses an unknown estimator', () => {
    const { episodes } = sampleTabular(40, { behavior: BEHAVIOR, candidate: BEHAVIOR }, seededRandom(1));
    const options = { ...OPTIONS, estimators: ['perDecison' as never] };
    expect(catchFault(() => evaluateOffPolicy(episodes, options))).toMatchObject({
      code: 'UNKNOWN_NAME',
      message: expect.stringContaining('estimators[0] is') as string,
    });
  });

  it('refuses a doubly robust estimate without a Q model', () => {
    const { episodes } = sampleTabular(40, { behavior: BEHAVIOR, candidate: CANDIDATE }, seededRandom(1));
    expect(catchFault(() => evaluateOffPolicy(episodes, OPTIONS))).toMatchObject({
      code: 'MISSING_INPUT',
      message: expect.stringContaining('a value critic is not enough') as string,
    });
  });
});

describe('fitted-Q evaluation', () => {
  it('finds the exact Q when there is enough data for a table', () => {
    const { transitions } = sampleTabular(
      20_000,
      { behavior: BEHAVIOR, candidate: CANDIDATE },
      seededRandom(2),
    );
    const system = new RegressionSystem(transitions.numFeatures);
    for (let e = 0; e < 20_000; e++) system.addEpisode(transitions, e, 1);
    const value = dot(transitions.expectedFeatures, 0, system.solve({ gamma: GAMMA }));
    expect(Math.abs(value - trueValue(CANDIDATE, GAMMA))).toBeLessThan(0.03);
  });

  it('never fits on the group that it evaluates: its rewards do not change its own estimates', () => {
    const policies = { behavior: BEHAVIOR, candidate: CANDIDATE, groupSize: 3 };
    const { transitions } = sampleTabular(60, policies, seededRandom(6));
    const before = crossFitLinearQ(transitions, { gamma: GAMMA });
    // Group 4 is episodes 12, 13 and 14.
    const [from, to] = [transitions.offsets[12], transitions.offsets[15]];
    const rewards = transitions.rewards.slice();
    rewards.fill(100, from, to);
    const after = crossFitLinearQ({ ...transitions, rewards }, { gamma: GAMMA });
    expect(after.qValues.subarray(from, to)).toEqual(before.qValues.subarray(from, to));
    expect(after.stateValues.subarray(from, to)).toEqual(before.stateValues.subarray(from, to));
    expect(after.qValues).not.toEqual(before.qValues);
  });

  it('is the mean over first states of the values that the other folds give, as worked out by hand', () => {
    // One decision, one feature: a fit is the mean reward of its episodes. Rewards 0 … 9, fold e mod 5: without its fold's two
    // rewards e and e + 5, of sum 2e + 5, the other eight have the mean (45 − 2e − 5)/8 = (40 − 2e)/8.
    const one = new Float32Array(10).fill(1);
    const transitions = {
      offsets: Int32Array.from({ length: 11 }, (_, e) => e),
      numFeatures: 1,
      features: one,
      expectedFeatures: one,
      rewards: Float32Array.from({ length: 10 }, (_, e) => e),
    };
    const options = { gamma: 1, ridge: 0 };
    expect([...crossFitLinearQ(transitions, options).qValues]).toEqual(
      [0, 1, 2, 3, 4, 0, 1, 2, 3, 4].map((fold) => (40 - 2 * fold) / 8),
    );
    expect(fittedQEvaluation(transitions, { ...options, bootstrap: BOOTSTRAP }).value).toBeCloseTo(4.5, 12);
  });

  it('gives the reason when the regression is singular, there is no first state, or there are too few groups', () => {
    const { transitions } = sampleTabular(4, { behavior: BEHAVIOR, candidate: CANDIDATE }, seededRandom(3));
    const one = new RegressionSystem(transitions.numFeatures);
    one.addEpisode(transitions, 0, 1);
    expect(catchFault(() => one.solve({ gamma: GAMMA, ridge: 0 })).code).toBe('INSUFFICIENT_DATA');
    const empty = {
      offsets: new Int32Array(13),
      numFeatures: 1,
      features: new Float32Array(0),
      expectedFeatures: new Float32Array(0),
      rewards: new Float32Array(0),
    };
    expect(catchFault(() => fittedQEvaluation(empty, { gamma: 1, bootstrap: BOOTSTRAP })).message).toContain(
      'episode 0 has no decision',
    );
    expect(catchFault(() => crossFitLinearQ(transitions, { gamma: 1 }))).toMatchObject({
      code: 'INSUFFICIENT_DATA',
      message: expect.stringMatching(/^there are 4 groups .* at least 10: 6 more groups would do/) as string,
    });
    expect(
      catchFault(() => crossFitLinearQ({ ...transitions, numFeatures: 5 }, { gamma: 1 })).message,
    ).toContain('features has');
  });
});

describe('bootstrapInterval', () => {
  it('is ±1.96 standard errors for a mean, and the same for the same seed', () => {
    const random = seededRandom(8);
    const values = Float64Array.from({ length: 400 }, () => random());
    const mean = (sampled: Int32Array): number =>
      sampled.reduce((sum, i) => sum + values[i], 0) / sampled.length;
    const options = { numResamples: 2000, level: 0.95, seed: 1 };
    const { low, high } = bootstrapInterval(400, mean, options);
    const standardError = Math.sqrt(1 / 12 / 400);
    expect(Math.abs((high - low) / (2 * 1.96 * standardError) - 1)).toBeLessThan(0.15);
    expect(bootstrapInterval(400, mean, options)).toEqual({ low, high });
    expect(bootstrapInterval(400, mean, { ...options, seed: 2 })).not.toEqual({ low, high });
  });

  it('refuses a level of 1 and a single resample', () => {
    const constant = (): number => 0;
    expect(catchFault(() => bootstrapInterval(1, constant, { ...BOOTSTRAP, level: 1 })).message).toContain(
      'level is 1',
    );
    expect(
      catchFault(() => bootstrapInterval(1, constant, { ...BOOTSTRAP, numResamples: 1 })).message,
    ).toContain('numResamples is 1');
  });
});
