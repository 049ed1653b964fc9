export { RewardError, type RewardErrorCode } from './errors.js';
export type { RewardEpisode, RewardStep } from './episode.js';
export {
  defineReward,
  getReward,
  listRewards,
  resolveRewardOptions,
  type RewardComponent,
  type RewardContext,
  type RewardOutcome,
} from './component.js';
export { RewardComposer, type ComponentConfig, type ComponentScore, type EpisodeReward } from './composer.js';
export {
  ALLOCATION_RULES,
  allocateRewards,
  type AllocationInput,
  type AllocationOptions,
  type AllocationRule,
} from './allocation/allocation.js';
export { rewardVersion } from './reward-version.js';
import './components/environment-rewards.js';
import './components/form-rewards.js';
import './components/answer-rewards.js';
export { exactMatch, normalizeAnswer, tokenF1 } from './text-metrics/answers.js';
export { sentenceBleu } from './text-metrics/bleu.js';
export { numbersAgree, parseNumber } from './text-metrics/numbers.js';
export { rougeL } from './text-metrics/rouge-l.js';
