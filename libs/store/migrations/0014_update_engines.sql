-- The view of updates, with what made each: the engine of its commit, '' and 0 in commits before schema version 4, null without a commit.
CREATE OR REPLACE VIEW updates AS
SELECT
    e.run_id AS run_id,
    argMinIf(e.update_number, e.log_offset, e.kind = 'BatchPlanned') AS update_number,
    argMinIf(JSONExtractString(e.payload, 'stage'), e.log_offset, e.kind = 'BatchPlanned') AS stage,
    e.plan_id AS plan_id,
    argMinIf(e.epoch, e.log_offset, e.kind = 'BatchPlanned') AS epoch,
    argMinIf(e.policy_version, e.log_offset, e.kind = 'BatchPlanned') AS policy_version_in,
    argMinOrNullIf(e.policy_version, e.log_offset, e.kind = 'UpdateApplied') AS policy_version_out,
    argMinIf(JSONExtractString(e.payload, 'rewardVersion'), e.log_offset, e.kind = 'BatchPlanned') AS reward_version,
    argMinIf(JSONExtractString(e.payload, 'recipeHash'), e.log_offset, e.kind = 'BatchPlanned') AS recipe_hash,
    argMinIf(JSONExtractUInt(e.payload, 'seed'), e.log_offset, e.kind = 'BatchPlanned') AS seed,
    argMinIf(JSONExtract(e.payload, 'groupIds', 'Array(String)'), e.log_offset, e.kind = 'BatchPlanned') AS group_ids,
    argMinIf(JSONExtract(e.payload, 'episodeIds', 'Array(String)'), e.log_offset, e.kind = 'BatchPlanned') AS episode_ids,
    argMinIf(JSONLength(e.payload, 'episodeIds'), e.log_offset, e.kind = 'BatchPlanned') AS num_episodes,
    argMinIf(e.occurred_at, e.log_offset, e.kind = 'BatchPlanned') AS planned_at,
    argMinOrNullIf(e.occurred_at, e.log_offset, e.kind = 'UpdateApplied') AS applied_at,
    argMinIf(
        mapFromArrays(CAST(e.metric_names, 'Array(String)'), e.metric_values),
        e.log_offset,
        e.kind = 'UpdateApplied') AS metrics,
    argMinOrNullIf(
        JSONExtractString(e.payload, 'weights', 'sha256'), e.log_offset, e.kind = 'UpdateApplied') AS weights_sha256,
    argMinOrNullIf(
        JSONExtractString(e.payload, 'optimizer', 'sha256'), e.log_offset, e.kind = 'UpdateApplied') AS optimizer_sha256,
    argMinOrNullIf(JSONExtractString(e.payload, 'engine', 'kind'), e.log_offset, e.kind = 'UpdateApplied') AS engine,
    argMinOrNullIf(
        JSONExtractString(e.payload, 'engine', 'version'), e.log_offset, e.kind = 'UpdateApplied') AS engine_version,
    argMinOrNullIf(
        JSONExtractString(e.payload, 'engine', 'device'), e.log_offset, e.kind = 'UpdateApplied') AS engine_device,
    argMinOrNullIf(
        JSONExtractUInt(e.payload, 'engine', 'numProcesses'), e.log_offset, e.kind = 'UpdateApplied') AS engine_processes
FROM current_trainer_events AS e
WHERE e.kind IN ('BatchPlanned', 'UpdateApplied')
GROUP BY e.run_id, e.plan_id
HAVING countIf(e.kind = 'BatchPlanned') > 0;
