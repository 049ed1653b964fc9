-- Groups of each planned update with the run that they belong to; of a run's own groups `of_run_id` is that run. A group that was left out (an
-- event of it was lost, or its rewards had no variance) is in no gradient and counts as sampled.
CREATE OR REPLACE VIEW update_groups AS
SELECT
    run_id,
    update_number,
    plan_id,
    group_id,
    if(run_place = 0, run_id, run_ids[run_place]) AS of_run_id,
    source,
    weight,
    is_left_out
FROM
(
    SELECT
        run_id,
        update_number,
        plan_id,
        JSONExtract(payload, 'groupIds', 'Array(String)') AS group_ids,
        JSONExtract(payload, 'runIds', 'Array(String)') AS run_ids,
        JSONExtract(payload, 'groupRuns', 'Array(UInt32)') AS run_places,
        JSONExtract(payload, 'groupSources', 'Array(UInt32)') AS sources,
        JSONExtract(payload, 'groupWeights', 'Array(Float64)') AS weights,
        JSONExtract(payload, 'episodeGroups', 'Array(UInt32)') AS episode_groups
    FROM current_trainer_events
    WHERE kind = 'BatchPlanned'
)
ARRAY JOIN
    group_ids AS group_id,
    if(empty(run_places), arrayMap(x -> toUInt32(0), group_ids), run_places) AS run_place,
    if(empty(sources), arrayMap(x -> toUInt32(0), group_ids), sources) AS source,
    if(empty(weights), arrayMap(x -> toFloat64(1), group_ids), weights) AS weight,
    if(
        empty(episode_groups),
        arrayMap(x -> false, group_ids),
        arrayMap((x, place) -> NOT has(episode_groups, place - 1), group_ids, arrayEnumerate(group_ids))) AS is_left_out;

-- Times that the limiter of samples and inserts made a side of a run wait.
CREATE OR REPLACE VIEW sampling_blocks AS
SELECT
    run_id,
    JSONExtractString(payload, 'side') AS side,
    JSONExtractString(payload, 'reason') AS reason,
    JSONExtractUInt(payload, 'numInserted') AS num_inserted,
    JSONExtractFloat(payload, 'numSampled') AS num_sampled,
    occurred_at AS blocked_at
FROM events
WHERE episode_id = '' AND kind = 'SamplingBlocked';

-- Groups that no update will be trained on, as the trainer decided.
CREATE OR REPLACE VIEW discarded_groups AS
SELECT
    run_id,
    arrayJoin(JSONExtract(payload, 'groupIds', 'Array(String)')) AS group_id,
    toString(end_reason) AS reason,
    update_number,
    occurred_at AS discarded_at
FROM events
WHERE episode_id = '' AND kind = 'GroupsDiscarded';
