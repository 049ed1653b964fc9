import * as algorithms from '../index.js';
import type { Entry } from './broken-arguments.js';
import {
  corrected,
  correctedKinds,
  groupIds,
  loss,
  lossKinds,
  offsets,
  returns,
  rewards,
  tokens,
} from './valid-arguments.js';

const transitions = {
  offsets: Int32Array.of(0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
  features: Float32Array.of(1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0),
  expectedFeatures: new Float32Array(24).fill(0.5),
  rewards: new Float32Array(12).fill(0.5),
  groupIds: Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
  gamma: 0.9,
  ridge: 0.1,
};
const TRANSITION_KINDS = {
  offsets: 'offsets',
  features: 'values',
  expectedFeatures: 'values',
  rewards: 'values',
  groupIds: 'groupIds',
  gamma: 'unit',
  ridge: 'nonNegative',
} as const;
const BOOTSTRAP = { numResamples: 20, level: 0.9, seed: 1 };
const fitted = (run: (transitions: algorithms.QTransitions, options: algorithms.FittedQOptions) => unknown) =>
  (({ gamma, ridge, ...rest }: typeof transitions) =>
    run({ ...rest, numFeatures: 2 }, { gamma, ridge })) as Entry['run'];

const numTokens = { offsets, groupIds: Int32Array.of(0, 1, 0), keep: new Uint8Array(5).fill(1) };
const counts = algorithms.countForAggregation({ offsets, groupIds });

/** All others, with valid arguments and what each of them has to be. */
export const otherFunctions: Readonly<Record<string, Entry>> = {
  computePolicyLoss: {
    run: ((input: algorithms.PolicyLossInput & { clipLow: number; clipHigh: number; dualClip: number }) => {
      const { clipLow, clipHigh, dualClip, ...rest } = input;
      return algorithms.computePolicyLoss('decoupledPpo', rest, { clipLow, clipHigh, dualClip });
    }) as Entry['run'],
    input: { ...loss, clipLow: 0.2, clipHigh: 0.2, dualClip: 3 },
    kinds: { ...lossKinds, clipLow: 'positive', clipHigh: 'positive', dualClip: 'positive' },
  },
  selectLossTokens: {
    run: ((input: algorithms.PolicyLossInput & { threshold: number }) => {
      const { threshold, ...rest } = input;
      return algorithms.selectLossTokens('m2po', rest, { threshold });
    }) as Entry['run'],
    input: { ...loss, threshold: 0.1 },
    kinds: { ...lossKinds, threshold: 'positive' },
  },
  valueLoss: {
    run: algorithms.valueLoss,
    input: {
      values: tokens(1),
      returns: tokens(0),
      proximalValues: tokens(0.5),
      weights: tokens(0.2),
      clip: 0.2,
    },
    kinds: {
      values: 'leading',
      returns: 'values',
      proximalValues: 'values',
      weights: 'values',
      clip: 'positive',
    },
  },
  preferencePairs: {
    run: algorithms.preferencePairs,
    input: { returns, groupIds, excluded: Uint8Array.of(0, 0, 0) },
    kinds: { returns: 'leading', groupIds: 'groupIds', excluded: 'mask' },
  },
  preferenceLoss: {
    run: (({
      beta,
      labelSmoothing,
      ...pairs
    }: algorithms.PreferenceLossInput & { beta: number; labelSmoothing: number }) =>
      algorithms.preferenceLoss(pairs, { loss: 'dpo', beta, labelSmoothing })) as Entry['run'],
    input: {
      offsets,
      logprobs: tokens(-1),
      referenceLogprobs: tokens(-2),
      chosen: Int32Array.of(0, 2),
      rejected: Int32Array.of(2, 1),
      beta: 0.1,
      labelSmoothing: 0.1,
    },
    kinds: {
      offsets: 'offsets',
      logprobs: 'logprobs',
      referenceLogprobs: 'logprobs',
      chosen: 'groupIds',
      rejected: 'groupIds',
      beta: 'positive',
      labelSmoothing: 'unit',
    },
  },
  highEntropyTokens: {
    run: (({ entropies, fraction }: { entropies: Float32Array; fraction: number }) =>
      algorithms.highEntropyTokens(entropies, fraction)) as Entry['run'],
    input: { entropies: tokens(1), fraction: 0.2 },
    kinds: { entropies: 'leading', fraction: 'unit' },
  },
  proximalShares: {
    run: (({ policyVersionIn }: { policyVersionIn: number }) =>
      algorithms.proximalShares(Int32Array.of(0, 1), policyVersionIn)) as Entry['run'],
    input: { policyVersionIn: 1 },
    kinds: {},
  },
  resamplingWeights: {
    run: (({ returns: values, power }: { returns: Float64Array; power: number }) =>
      algorithms.resamplingWeights(values, { rule: 'power', power })) as Entry['run'],
    input: { returns: Float64Array.of(1, 0), power: 2 },
    kinds: { returns: 'leading', power: 'positive' },
  },
  categoricalEntropy: {
    run: (({ logits, numCategories }: { logits: Float32Array; numCategories: number }) =>
      algorithms.categoricalEntropy(logits, numCategories)) as Entry['run'],
    input: { logits: new Float32Array(6), numCategories: 3 },
    kinds: { logits: 'values', numCategories: 'count' },
  },
  aggregationWeights: {
    run: ((input: algorithms.AggregatedTokens & { horizon: number }) => {
      const { horizon, ...rest } = input;
      return algorithms.aggregationWeights(rest, {
        aggregation: 'sequenceMeanTokenSumNorm',
        counts,
        horizon,
      });
    }) as Entry['run'],
    input: { ...numTokens, horizon: 8 },
    kinds: { groupIds: 'groupIds', keep: 'mask', horizon: 'positive' },
  },
  countForAggregation: {
    run: algorithms.countForAggregation,
    input: numTokens,
    kinds: { groupIds: 'groupIds', keep: 'mask' },
  },
  estimateKl: {
    run: (({ logprobs, referenceLogprobs }: { logprobs: Float32Array; referenceLogprobs: Float32Array }) =>
      algorithms.estimateKl(logprobs, referenceLogprobs, { estimator: 'k3' })) as Entry['run'],
    input: { logprobs: tokens(-1), referenceLogprobs: tokens(-2) },
    kinds: { logprobs: 'logprobs', referenceLogprobs: 'logprobs' },
  },
  topKKl: {
    run: (({
      logprobs,
      teacherLogprobs,
      topK,
    }: {
      logprobs: Float32Array;
      teacherLogprobs: Float32Array;
      topK: number;
    }) => algorithms.topKKl(logprobs, teacherLogprobs, { objective: 'forwardKl', topK })) as Entry['run'],
    input: { logprobs: tokens(-2), teacherLogprobs: tokens(-3), topK: 5 },
    kinds: { logprobs: 'logprobs', teacherLogprobs: 'logprobs', topK: 'count' },
  },
  adaptKlCoefficient: {
    run: (({
      coefficient,
      numSamples,
      ...target
    }: {
      coefficient: number;
      numSamples: number;
      target: number;
      horizon: number;
    }) => algorithms.adaptKlCoefficient(coefficient, { meanKl: 0.1, numSamples }, target)) as Entry['run'],
    input: { coefficient: 0.1, numSamples: 8, target: 0.1, horizon: 100 },
    kinds: { coefficient: 'nonNegative', numSamples: 'nonNegative', target: 'positive', horizon: 'positive' },
  },
  applyKlPenalty: {
    run: ((input: Omit<algorithms.KlInRewardInput, 'estimator'>) =>
      algorithms.applyKlPenalty({ ...input, estimator: 'k1' })) as Entry['run'],
    input: { rewards, proximalLogprobs: tokens(-1), referenceLogprobs: tokens(-2), coefficient: 0.1 },
    kinds: {
      rewards: 'leading',
      proximalLogprobs: 'logprobs',
      referenceLogprobs: 'logprobs',
      coefficient: 'nonNegative',
    },
  },
  importanceWeights: {
    run: ((input: algorithms.CorrectionInput & { cap: number; floor: number }) => {
      const { cap, floor, ...rest } = input;
      return algorithms.importanceWeights(rest, { level: 'geometric', cap, floor });
    }) as Entry['run'],
    input: { ...corrected, cap: 2, floor: 0.5 },
    kinds: { ...correctedKinds, cap: 'positive', floor: 'positive' },
  },
  rejectTokens: {
    run: ((input: algorithms.CorrectionInput & { low: number; high: number; vetoBelow: number }) => {
      const { low, high, vetoBelow, ...rest } = input;
      const rules = [{ statistic: 'k1', scope: 'token', low, high }] as const;
      return algorithms.rejectTokens(rest, { rules, vetoBelow });
    }) as Entry['run'],
    input: { ...corrected, low: 0.5, high: 2, vetoBelow: 0.001 },
    kinds: { ...correctedKinds, low: 'positive', high: 'positive', vetoBelow: 'positive' },
  },
  correctionMetrics: { run: algorithms.correctionMetrics, input: corrected, kinds: correctedKinds },
  ratioStatistics: {
    run: (({
      numerator,
      denominator,
      mask,
    }: {
      numerator: Float32Array;
      denominator: Float32Array;
      mask: Uint8Array;
    }) => algorithms.ratioStatistics(numerator, denominator, mask)) as Entry['run'],
    input: { numerator: tokens(-1), denominator: tokens(-2), mask: new Uint8Array(5).fill(1) },
    kinds: { numerator: 'logprobs', denominator: 'logprobs', mask: 'mask' },
  },
  stalenessHistogram: {
    run: (({ maxStaleness }: { maxStaleness: number }) =>
      algorithms.stalenessHistogram(Int32Array.of(0, 1), maxStaleness)) as Entry['run'],
    input: { maxStaleness: 2 },
    kinds: {},
  },
  effectiveSampleFraction: {
    run: (({ weights }: { weights: Float32Array }) =>
      algorithms.effectiveSampleFraction(weights)) as Entry['run'],
    input: { weights: tokens(1) },
    kinds: { weights: 'leading' },
  },
  explainedVariance: {
    run: ((input: { values: Float32Array; returns: Float32Array; mask: Uint8Array }) =>
      algorithms.explainedVariance(input.values, input.returns, input.mask)) as Entry['run'],
    input: { values: tokens(1), returns: tokens(2), mask: new Uint8Array(5).fill(1) },
    kinds: { values: 'leading', returns: 'values', mask: 'mask' },
  },
  countInversions: {
    run: (({ values }: { values: Float64Array }) => algorithms.countInversions(values)) as Entry['run'],
    input: { values: Float64Array.of(3, 1, 2) },
    kinds: { values: 'leading' },
  },
  rankCorrelation: {
    run: (({ x, y }: { x: Float64Array; y: Float64Array }) =>
      algorithms.rankCorrelation(x, y)) as Entry['run'],
    input: { x: Float64Array.of(1, 2, 3), y: Float64Array.of(1, 2, 3) },
    kinds: { x: 'leading', y: 'values' },
  },
  bootstrapInterval: {
    run: (({ numResamples, level }: { numResamples: number; level: number }) =>
      algorithms.bootstrapInterval(5, () => 1, { ...BOOTSTRAP, numResamples, level })) as Entry['run'],
    input: { numResamples: 20, level: 0.9 },
    kinds: { numResamples: 'count', level: 'unit' },
  },
  crossFitLinearQ: {
    run: fitted((input, options) => algorithms.crossFitLinearQ(input, options)),
    input: transitions,
    kinds: TRANSITION_KINDS,
  },
  fittedQEvaluation: {
    run: fitted((input, options) =>
      algorithms.fittedQEvaluation(input, { ...options, bootstrap: BOOTSTRAP }),
    ),
    input: transitions,
    kinds: TRANSITION_KINDS,
  },
  evaluateOffPolicy: {
    run: ((
      input: algorithms.LoggedEpisodes & {
        gamma: number;
        minEffectiveEpisodes: number;
        minEffectiveGroups: number;
      },
    ) => {
      const { gamma, minEffectiveEpisodes, minEffectiveGroups, ...episodes } = input;
      const estimators = ['perDecision'] as const;
      const least = { minEffectiveEpisodes, minEffectiveGroups };
      return algorithms.evaluateOffPolicy(episodes, { estimators, gamma, ...least, bootstrap: BOOTSTRAP });
    }) as Entry['run'],
    input: {
      offsets,
      rewards,
      groupIds: Int32Array.of(0, 1, 0),
      candidateLogprobs: tokens(-1),
      behaviorLogprobs: tokens(-1),
      qValues: tokens(1),
      stateValues: tokens(1),
      gamma: 0.9,
      minEffectiveEpisodes: 1,
      minEffectiveGroups: 1,
    },
    kinds: {
      offsets: 'offsets',
      rewards: 'values',
      groupIds: 'groupIds',
      candidateLogprobs: 'logprobs',
      behaviorLogprobs: 'logprobs',
      qValues: 'values',
      stateValues: 'values',
      gamma: 'unit',
      minEffectiveEpisodes: 'positive',
      minEffectiveGroups: 'positive',
    },
  },
  rowSums: {
    run: (({ values, offsets: rows }: { values: Float32Array; offsets: Int32Array }) =>
      algorithms.rowSums(values, rows)) as Entry['run'],
    input: { values: tokens(1), offsets },
    kinds: { values: 'values', offsets: 'offsets' },
  },
  broadcastRows: {
    run: (({ perRow, offsets: rows }: { perRow: Float32Array; offsets: Int32Array }) =>
      algorithms.broadcastRows(perRow, rows)) as Entry['run'],
    input: { perRow: returns, offsets },
    kinds: { offsets: 'rows' },
  },
  clusterByGroup: {
    run: (({ groupIds }: { groupIds: Int32Array }) => algorithms.clusterByGroup(groupIds, 3)) as Entry['run'],
    input: { groupIds: Int32Array.of(0, 1, 0) },
    kinds: { groupIds: 'groupIds' },
  },
  successRate: {
    run: (({ successes }: { successes: Uint8Array }) =>
      algorithms.successRate(successes, algorithms.clusterByGroup(null, 3))) as Entry['run'],
    input: { successes: Uint8Array.of(0, 1, 1) },
    kinds: { successes: 'mask' },
  },
  wilsonInterval: {
    run: (({ rate, numTrials }: { rate: number; numTrials: number }) =>
      algorithms.wilsonInterval(rate, numTrials)) as Entry['run'],
    input: { rate: 0.5, numTrials: 10 },
    kinds: { rate: 'unit', numTrials: 'nonNegative' },
  },
  passAtK: {
    run: (({ numAttempts, numSuccesses, k }: { numAttempts: number; numSuccesses: number; k: number }) =>
      algorithms.passAtK(numAttempts, numSuccesses, k)) as Entry['run'],
    input: { numAttempts: 4, numSuccesses: 2, k: 2 },
    kinds: { numAttempts: 'count', numSuccesses: 'nonNegative', k: 'count' },
  },
  findPlateau: {
    run: (({ values, patience, minGain }: { values: Float64Array; patience: number; minGain: number }) =>
      algorithms.findPlateau(values, { patience, minGain })) as Entry['run'],
    input: { values: Float64Array.of(0.5, 0.4, 0.6), patience: 2, minGain: 0 },
    kinds: { patience: 'nonNegative', minGain: 'nonNegative' },
  },
  attemptFigures: {
    run: (({ task }: { task: number }) =>
      algorithms.attemptFigures([{ task, isSuccess: true }])) as Entry['run'],
    input: { task: 1 },
    kinds: {},
  },
  comparePaired: {
    run: (({ first, second }: { first: Float64Array; second: Float64Array }) =>
      algorithms.comparePaired([...first], [...second], { isSingleAttempt: false })) as Entry['run'],
    input: { first: Float64Array.of(0, 1, 0.5), second: Float64Array.of(1, 1, 0) },
    kinds: { first: 'values', second: 'values' },
  },
  mcnemarPValue: {
    run: (({ numOnlyFirst, numOnlySecond }: { numOnlyFirst: number; numOnlySecond: number }) =>
      algorithms.mcnemarPValue(numOnlyFirst, numOnlySecond)) as Entry['run'],
    input: { numOnlyFirst: 3, numOnlySecond: 5 },
    kinds: { numOnlyFirst: 'nonNegative', numOnlySecond: 'nonNegative' },
  },
};
