-- The views of groups, so that memory grows with the number of members and not with groups times members: what ARRAY JOIN and the functions of
-- arrays repeat for each element is a number or a group's own members, never the whole event or its lists.

-- Member i of a closing has the key 2 i + 1, and a mark before the first member of each group, at f, the key 2 f. Sorted by key and
-- split at the marks, the list of members becomes a list for each group; one without members is its mark alone.
CREATE OR REPLACE VIEW groups AS
SELECT
    run_id,
    group_id,
    round,
    split,
    end_reason AS reason,
    size AS group_size,
    arrayMap(member -> member.1, arrayPopFront(marked)) AS episode_ids,
    arrayMap(member -> member.2, arrayPopFront(marked)) AS num_steps,
    version_min AS policy_version_min,
    version_max AS policy_version_max,
    trainable,
    occurred_at AS closed_at
FROM
(
    SELECT
        run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset, split, end_reason, occurred_at,
        JSONExtractUInt(payload, 'round') AS round,
        toBool(JSONExtractBool(payload, 'trainable')) AS trainable,
        JSONExtract(payload, 'groupIds', 'Array(String)') AS group_ids,
        JSONExtract(payload, 'groupSizes', 'Array(UInt64)') AS sizes,
        JSONExtract(payload, 'policyVersionMin', 'Array(Int64)') AS versions_min,
        JSONExtract(payload, 'policyVersionMax', 'Array(Int64)') AS versions_max,
        arrayPopBack(JSONExtract(payload, 'memberOffsets', 'Array(Int64)')) AS firsts,
        arrayZip(
            JSONExtract(payload, 'episodeIds', 'Array(String)'),
            JSONExtract(payload, 'numSteps', 'Array(UInt64)')) AS members,
        arrayConcat(
            arrayMap(first -> 2 * first, firsts),
            arrayMap(place -> 2 * toInt64(place) - 1, arrayEnumerate(members))) AS keys,
        arraySplit(
            (member, key) -> key % 2 = 0,
            arraySort((member, key) -> key, arrayConcat(arrayMap(first -> ('', toUInt64(0)), firsts), members), keys),
            arraySort(keys)) AS marked_groups
    FROM events
    WHERE episode_id = '' AND kind = 'GroupsClosed'
)
ARRAY JOIN
    group_ids AS group_id,
    sizes AS size,
    marked_groups AS marked,
    versions_min AS version_min,
    versions_max AS version_max
ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
LIMIT 1 BY run_id, group_id;

-- Group g of a plan has the key 2 g, and the key 2 g + 1 where episodes of it are in the update; sorted, a group's own key is followed
-- by that one unless the group was left out.
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
        arrayDistinct(JSONExtract(payload, 'episodeGroups', 'Array(UInt32)')) AS groups_in_use,
        arraySort(arrayConcat(
            arrayMap(place -> 2 * toInt64(place) - 2, arrayEnumerate(group_ids)),
            arrayMap(g -> 2 * toInt64(g) + 1, groups_in_use))) AS keys,
        arrayMap(
            pair -> toBool(pair.2 != pair.1 + 1),
            arrayFilter(pair -> pair.1 % 2 = 0, arrayZip(keys, arrayPushBack(arrayPopFront(keys), 0)))) AS left_out
    FROM current_trainer_events
    WHERE kind = 'BatchPlanned'
)
ARRAY JOIN
    group_ids AS group_id,
    if(empty(run_places), arrayMap(x -> toUInt32(0), group_ids), run_places) AS run_place,
    if(empty(sources), arrayMap(x -> toUInt32(0), group_ids), sources) AS source,
    if(empty(weights), arrayMap(x -> toFloat64(1), group_ids), weights) AS weight,
    if(empty(groups_in_use), arrayMap(x -> toBool(0), group_ids), left_out) AS is_left_out;
