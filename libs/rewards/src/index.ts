export { RewardError, type RewardErrorCode } from './errors.js';
export { dataSourceOf, type RewardEpisode, type RewardStep } from './episode.js';
export {
  defineReward,
  getReward,
  listRewards,
  registerReward,
  resolveRewardOptions,
  type AssignedValue,
  type RewardComponent,
  type RewardContext,
  type RewardImplementation,
  type RewardOutcome,
  type ScoringContext,
} from './component.js';
export type { JudgeAnswer, JudgeRequest, JudgeService } from './judge.js';
export { RewardComposer, type ComponentConfig, type EpisodeReward } from './composer.js';
export { ALLOCATION_RULES, allocateRewards, type AllocationRule } from './allocation/allocation.js';
export { rewardVersion } from './reward-version.js';
import './components/environment-rewards.js';
import './components/state-rewards.js';
import './components/form-rewards.js';
import './components/answer-rewards.js';
import './components/judge-reward.js';
import './components/assigned-reward.js';
export { editDistance, editSimilarity } from './text-metrics/edit-distance.js';
export { mathAnswersAgree, normalizeMathAnswer } from './text-metrics/math-answers.js';
export { exactMatch, normalizeAnswer, tokenF1 } from './text-metrics/answers.js';
export { sentenceBleu } from './text-metrics/bleu.js';
export { numbersAgree, parseNumber } from './text-metrics/numbers.js';
export { rougeL } from './text-metrics/rouge-l.js';
export {
  choice,
  flag,
  fraction,
  nonNegative,
  nullable,
  positive,
  real,
  text,
  textList,
  wholeNumber,
} from '@retrace/algorithms/registry';

/** This module, which represents the whole library in the code hash of a user's file that imports it. */
export const REWARDS_MODULE = import.meta.url;
