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
