export { ScoringError, type ScoringErrorCode } from './scoring-error.js';
export { codeHash } from './module-code.js';
export { loadRewardModules } from './load-reward-module.js';
export {
  RewardScorer,
  type IdentifiedEpisode,
  type RewardDefinition,
  type RewardScorerOptions,
} from './reward-scorer.js';
export type { RewardInputs, TokenRewards } from './token-rewards.js';
export { readRewardEpisodes, type RewardEpisodesQuery } from './read-reward-episodes.js';
export { scoreRun, type ScoreProgress, type ScoreReport, type ScoreRunOptions } from './score-run.js';
export { auditRewards, type RewardAudit } from './audit/audit-rewards.js';
export { diffScores, type ScoreDiff, type ScoreDiffOptions } from './diff/diff-scores.js';
export {
  findVersion,
  listVersions,
  newestVersion,
  readScores,
  type NamedVersion,
  type StoredScore,
} from './reward-versions.js';
export { StoredRewards } from './stored-rewards.js';
export { AssignedRewards, withAssignedUntil, type AssignedRewardsOptions } from './assigned-rewards.js';
export { StateVisits, type StateVisitsOptions, type VisitCount } from './state-visits.js';
export { rewardEpisode, type StoredEpisodes } from './reward-episode.js';
export { JudgeClient, type JudgeClientOptions, type JudgeUsage } from './judge/judge-client.js';
export { VerdictArchive, type VerdictSource } from './judge/verdict-archive.js';
export type { JudgeVerdict } from './judge/verdict.js';
export { VerdictStore, type AssignedRewardSource, type VerdictStoreOptions } from './judge/verdict-store.js';
