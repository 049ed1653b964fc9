import type { Entry } from './broken-arguments.js';

/* A small valid batch, which the tables of public functions are made of. */

/** Three episodes of 2, 0 and 3 tokens; episodes 0 and 2 are a group. */
export const offsets = Int32Array.of(0, 2, 2, 5);
export const tokens = (value: number) => new Float32Array(5).fill(value);
export const rewards = Float32Array.of(0, 1, 0, 0, 2);
export const groupIds = Int32Array.of(0, 1, 0);
export const returns = Float32Array.of(1, 0, 2);
export const truncated = Uint8Array.of(1, 0, 0);
export const finalValues = Float32Array.of(0.5, 0, 0);
export const critic = {
  offsets,
  rewards,
  values: tokens(0.5),
  truncated,
  finalValues,
  gamma: 0.9,
  lambda: 0.9,
};
export const CRITIC_KINDS = {
  offsets: 'offsets',
  rewards: 'values',
  values: 'values',
  truncated: 'mask',
  finalValues: 'values',
  gamma: 'unit',
  lambda: 'unit',
} as const;
export const policies = { proximalLogprobs: tokens(-1), behaviorLogprobs: tokens(-1.1) };
export const POLICY_KINDS = { proximalLogprobs: 'logprobs', behaviorLogprobs: 'logprobs' } as const;
export const steps = { episodeSteps: Int32Array.of(0, 1, 1, 2), stepOffsets: Int32Array.of(0, 2, 5) };
export const STEP_KINDS = { episodeSteps: 'offsets', stepOffsets: 'offsets' } as const;
export const group = { returns, groupIds };
export const GROUP_KINDS = { returns: 'leading', groupIds: 'groupIds' } as const;
export const corrected = { offsets, ...policies, keep: new Uint8Array(5).fill(1) };
export const correctedKinds = { offsets: 'offsets', ...POLICY_KINDS, keep: 'mask' } as const;
export const loss = {
  offsets,
  logprobs: tokens(-1),
  ...policies,
  advantages: tokens(1),
  weights: tokens(0.2),
  importanceWeights: tokens(1),
};
export const lossKinds = {
  offsets: 'offsets',
  logprobs: 'logprobs',
  ...POLICY_KINDS,
  advantages: 'values',
  weights: 'values',
  importanceWeights: 'values',
} as const;
export const { gamma: _gamma, lambda: _lambda, ...ofCritic } = critic;
export const { gamma: _ofGamma, lambda: _ofLambda, ...ofCriticKinds } = CRITIC_KINDS;
export const { values: _values, ...withoutValues } = critic;
export const { values: _ofValues, ...withoutValuesKinds } = CRITIC_KINDS;
export const { lambda: _decay, ...withoutLambda } = withoutValues;
export const { lambda: _ofDecay, ...withoutLambdaKinds } = withoutValuesKinds;

export const { offsets: _ofOffsets, ...withoutOffsetsKinds } = CRITIC_KINDS;

export const overGroup = (run: (input: never) => unknown): Entry => ({
  run,
  input: group,
  kinds: GROUP_KINDS,
});
