export { listCheckpointFiles } from './checkpoints/run-files.js';
export { findPolicy, keptPolicies, requireWeights } from './checkpoints/find-policy.js';
export { publishingRun, PUBLISHING, selectRun, type OnChosen, type RunNeeds } from './choose/select-run.js';
export { describeNothingLearned, summarizeRun, type RunSummary } from './end/run-summary.js';
export { RunsError } from './runs-error.js';
