import type { OptionalInput } from '@retrace/algorithms';

/**
 * Inputs that the trainer hands to advantage estimators beside rewards and groups. A recipe whose estimator requires anything
 * else is refused when it is read, not after the first round of episodes.
 */
export const TRAINER_INPUTS = [
  'values',
  'truncated',
  'finalValues',
  'proximalLogprobs',
  'behaviorLogprobs',
  'episodeSteps',
  'stepOffsets',
  'anchors',
  'rewardComponents',
  'componentWeights',
  'sumSquaredProbabilities',
  'rolloutWeights',
  'greedyReturns',
  'roleIds',
  'roleBaselines',
] as const satisfies readonly OptionalInput[];

export type TrainerInput = (typeof TRAINER_INPUTS)[number];
