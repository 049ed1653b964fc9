-- Groups: episodes of one task. Memory grows with the number of members and not with groups times members: what ARRAY JOIN and the functions
-- of arrays repeat for each element is a number or a group's own members, never the whole event or its lists.

-- A GroupsClosed event holds the groups of a round as columns. Member i of a closing has the key 2 i + 1, and a mark before the first member of
-- each group, at f, the key 2 f. Sorted by key and split at the marks, the list of members becomes a list for each group; one without members is
-- its mark alone.
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
