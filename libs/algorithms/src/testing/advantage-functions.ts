import * as algorithms from '../index.js';
import type { Entry } from './broken-arguments.js';
import {
  critic,
  CRITIC_KINDS,
  group,
  groupIds,
  GROUP_KINDS,
  ofCriticKinds,
  offsets,
  overGroup,
  policies,
  POLICY_KINDS,
  returns,
  rewards,
  STEP_KINDS,
  steps,
  tokens,
  withoutLambda,
  withoutLambdaKinds,
  withoutOffsetsKinds,
  withoutValues,
  withoutValuesKinds,
} from './valid-arguments.js';

/** Returns and advantages, with valid arguments and what each of them has to be. */
export const advantageFunctions: Readonly<Record<string, Entry>> = {
  gae: {
    run: algorithms.gae,
    input: { ...critic, mask: new Uint8Array(5).fill(1) },
    kinds: { ...CRITIC_KINDS, mask: 'mask' },
  },
  tdLambdaReturns: { run: algorithms.tdLambdaReturns, input: critic, kinds: CRITIC_KINDS },
  monteCarloReturns: { run: algorithms.monteCarloReturns, input: withoutLambda, kinds: withoutLambdaKinds },
  nStepReturns: {
    run: algorithms.nStepReturns,
    input: { ...withoutLambda, values: tokens(0.5), numSteps: 2 },
    kinds: { ...withoutLambdaKinds, values: 'values', numSteps: 'count' },
  },
  biLevelGae: {
    run: algorithms.biLevelGae,
    input: { ...critic, ...steps, turnGamma: 0.9 },
    kinds: { ...withoutOffsetsKinds, ...STEP_KINDS, turnGamma: 'unit' },
  },
  vtrace: {
    run: algorithms.vtrace,
    input: { ...critic, ...policies, rhoMax: 1, traceMax: 1, policyRhoMax: 1 },
    kinds: {
      ...CRITIC_KINDS,
      ...POLICY_KINDS,
      rhoMax: 'positive',
      traceMax: 'positive',
      policyRhoMax: 'positive',
    },
  },
  retrace: {
    run: algorithms.retrace,
    input: { ...withoutValues, ...policies, qValues: tokens(1), expectedQValues: tokens(0.5) },
    kinds: { ...withoutValuesKinds, ...POLICY_KINDS, qValues: 'values', expectedQValues: 'values' },
  },
  grpo: overGroup(algorithms.grpo),
  drGrpo: overGroup(algorithms.drGrpo),
  rloo: overGroup(algorithms.rloo),
  grpoPassK: overGroup(algorithms.grpoPassK),
  gpg: overGroup(algorithms.gpg),
  bestOfN: overGroup(algorithms.bestOfN),
  topReturns: {
    run: ((input: { returns: Float32Array; topFraction: number }) =>
      algorithms.topReturns(input, input)) as Entry['run'],
    input: { returns, topFraction: 0.5 },
    kinds: { returns: 'leading', topFraction: 'unit' },
  },
  advantageWeights: {
    run: ((input: { advantages: Float32Array; temperature: number; maxWeight: number }) =>
      algorithms.advantageWeights(input.advantages, input)) as Entry['run'],
    input: { advantages: tokens(0.5), temperature: 1, maxWeight: 20 },
    kinds: { advantages: 'leading', temperature: 'positive', maxWeight: 'positive' },
  },
  maxRl: overGroup(algorithms.maxRl),
  opo: {
    run: algorithms.opo,
    input: { ...group, lengths: Int32Array.of(2, 0, 3) },
    kinds: { ...GROUP_KINDS, lengths: 'groupIds' },
  },
  gdpo: {
    run: (({
      componentReturns,
      ...input
    }: {
      componentReturns: Float32Array;
      offsets: Int32Array;
      groupIds: Int32Array;
      weights: Float32Array;
    }) => algorithms.gdpo({ ...input, components: [componentReturns] })) as Entry['run'],
    input: { offsets, groupIds, componentReturns: returns, weights: Float32Array.of(1) },
    kinds: { offsets: 'rows', groupIds: 'groupIds', componentReturns: 'values', weights: 'values' },
    called: { componentReturns: 'components[0]' },
  },
  gigpo: {
    run: algorithms.gigpo,
    input: { ...steps, rewards, groupIds, anchors: Int32Array.of(0, 0) },
    kinds: { ...STEP_KINDS, rewards: 'values', groupIds: 'groupIds' },
  },
  optimalTokenBaseline: {
    run: algorithms.optimalTokenBaseline,
    input: {
      offsets,
      rewards,
      groupIds,
      proximalLogprobs: tokens(-1),
      sumSquaredProbabilities: tokens(0.5),
      importanceWeights: tokens(1),
    },
    kinds: {
      offsets: 'offsets',
      rewards: 'values',
      groupIds: 'groupIds',
      proximalLogprobs: 'logprobs',
      sumSquaredProbabilities: 'values',
      importanceWeights: 'values',
    },
  },
  rae: {
    run: algorithms.rae,
    input: { returns, roleIds: Int32Array.of(0, 1, 0), baselines: Float64Array.of(0, 0), decay: 0.5 },
    kinds: { returns: 'leading', roleIds: 'groupIds', decay: 'unit' },
  },
  reinforcePlusPlus: { run: algorithms.reinforcePlusPlus, input: withoutLambda, kinds: withoutLambdaKinds },
  reinforcePlusPlusBaseline: {
    run: algorithms.reinforcePlusPlusBaseline,
    input: { ...group, offsets },
    kinds: { ...GROUP_KINDS, offsets: 'rows' },
  },
  remax: {
    run: algorithms.remax,
    input: { offsets, rewards, greedyReturns: returns },
    kinds: { offsets: 'offsets', rewards: 'values', greedyReturns: 'values' },
  },
  whiten: {
    run: (({ values, mask }: { values: Float32Array; mask: Uint8Array }) =>
      algorithms.whiten(values, mask)) as Entry['run'],
    input: { values: tokens(1), mask: new Uint8Array(5).fill(1) },
    kinds: { values: 'leading', mask: 'mask' },
  },
  numberSimilarAnchors: {
    run: ((input: { groupOfStep: Int32Array; threshold: number }) =>
      algorithms.numberSimilarAnchors({ ...input, anchors: ['a', 'b'] })) as Entry['run'],
    input: { groupOfStep: Int32Array.of(0, 0), threshold: 0.5 },
    kinds: { threshold: 'unit' },
  },
  computeAdvantages: {
    run: ((input: algorithms.AdvantageBatch & { gamma: number; lambda: number }) => {
      const { gamma, lambda, ...batch } = input;
      return algorithms.computeAdvantages('gae', batch, { gamma, lambda });
    }) as Entry['run'],
    input: { ...critic, groupIds, excluded: Uint8Array.of(0, 0, 0) },
    kinds: { ...ofCriticKinds, groupIds: 'groupIds', excluded: 'mask', gamma: 'unit', lambda: 'unit' },
  },
};
