import type { LossOptions } from '../losses/loss-options.js';

/** Options that switch every term of the loss on. */
export const EVERY_TERM: LossOptions = {
  policyLoss: 'ppo',
  policyLossOptions: { clipLow: 0.2, clipHigh: 0.28, dualClip: 3 },
  valueCoefficient: 0.5,
  valueClip: 0.2,
  entropyCoefficient: 0.01,
  klCoefficient: 0.1,
  klEstimator: 'k3',
  temperature: 0.8,
  maxTokensPerMicroBatch: 4096,
};

/** Plain imitation: −log π of the recorded tokens. */
export const imitation: LossOptions = {
  ...EVERY_TERM,
  policyLoss: 'crossEntropy',
  policyLossOptions: {},
  valueCoefficient: 0,
  entropyCoefficient: 0,
  klCoefficient: 0,
  temperature: 1,
};
