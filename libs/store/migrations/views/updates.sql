-- Updates, the policies that they made, and what each was trained on.

-- Claims, plans, commits and publications that the fold of the control stream accepts: written under the epoch that was claimed at that
-- moment, and the first in log order for their update, plan or version.
CREATE OR REPLACE VIEW current_trainer_events AS
SELECT * EXCEPT (current_epoch)
FROM
(
    SELECT
        *,
        max(if(kind = 'TrainerClaimed', toInt64(epoch), -1)) OVER (
            PARTITION BY run_id
            ORDER BY log_id, log_partition, log_offset
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS current_epoch
    FROM events
    WHERE episode_id = '' AND kind IN ('TrainerClaimed', 'BatchPlanned', 'UpdateApplied', 'PolicyPublished')
)
WHERE toInt64(epoch) = current_epoch
ORDER BY run_id, log_id, log_partition, log_offset
LIMIT 1 BY run_id, kind, multiIf(
    kind = 'BatchPlanned', toString(update_number),
    kind = 'UpdateApplied', plan_id,
    kind = 'PolicyPublished', toString(policy_version),
    toString(epoch));

-- With what made each: the engine of its commit, '' and 0 in commits before schema version 4, null without a commit.
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

CREATE OR REPLACE VIEW policies AS
SELECT
    run_id,
    policy_version,
    JSONExtract(payload, 'parentVersion', 'Nullable(Int64)') AS parent_version,
    update_number,
    JSONExtractString(payload, 'weights', 'sha256') AS weights_sha256,
    JSONExtractUInt(payload, 'weights', 'sizeBytes') AS weights_size_bytes,
    JSONExtractString(payload, 'modelHash') AS model_hash,
    -- '' where the weights are in the checkpoint store: only trainers outside keep them elsewhere.
    JSONExtractString(payload, 'location') AS location,
    occurred_at AS published_at
FROM current_trainer_events
WHERE kind = 'PolicyPublished';

-- Groups of each planned update with the run that they belong to; of a run's own groups `of_run_id` is that run. A group that was left out (an
-- event of it was lost, or its rewards had no variance) is in no gradient and counts as sampled.
--
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

-- What fed an update: the rows with its number. Which updates used an episode: the rows with its id. Rows with one key are equal, so the
-- indexes may choose granules before equal rows collapse.
CREATE OR REPLACE VIEW update_inputs AS
SELECT
    run_id,
    update_number,
    policy_version_in,
    place,
    episode_run_id,
    episode_id,
    group_id,
    first_step,
    num_steps,
    times,
    num_tokens,
    if(isNaN(i.weight), NULL, i.weight) AS weight,
    if(isNaN(i.advantage_mean), NULL, i.advantage_mean) AS advantage_mean,
    if(isNaN(i.advantage_deviation), NULL, i.advantage_deviation) AS advantage_deviation,
    if(isNaN(i.advantage_min), NULL, i.advantage_min) AS advantage_min,
    if(isNaN(i.advantage_max), NULL, i.advantage_max) AS advantage_max,
    plan_id
FROM traced_inputs AS i FINAL
SETTINGS use_skip_indexes_if_final_exact_mode = 0;

-- A row for each trained token of each optimizer step, where the recipe asks for it (`updateTokens`). The rows are the arrays of the event
-- `UpdateTokensTraced`, which the commit of the update carries, so they are there exactly where the commit is. The inputs of the update name the
-- episodes; they have none of a deleted episode, and none of a commit that does not count. Events of updates that had a teacher have a sixth array
-- of figures, which are then n more than the places; the k likeliest tokens of the teacher at the place of each token follow both, k for each token.
CREATE OR REPLACE VIEW update_tokens AS
SELECT
    t.run_id AS run_id,
    t.update_number AS update_number,
    t.optimizer_step AS optimizer_step,
    i.episode_run_id AS episode_run_id,
    i.episode_id AS episode_id,
    i.group_id AS group_id,
    t.step AS step,
    t.position AS position,
    if(isNaN(t.ratio), NULL, t.ratio) AS ratio,
    if(isNaN(t.advantage), NULL, t.advantage) AS advantage,
    if(isNaN(t.value), NULL, t.value) AS value,
    if(isNaN(t.kl), NULL, t.kl) AS kl,
    if(isNaN(t.entropy), NULL, t.entropy) AS entropy,
    if(isNaN(t.teacher_logprob), NULL, t.teacher_logprob) AS teacher_logprob,
    t.teacher_top_ids AS teacher_top_ids,
    t.teacher_top_logprobs AS teacher_top_logprobs,
    t.clipped AS clipped,
    t.plan_id AS plan_id
FROM
(
    SELECT
        run_id,
        update_number,
        plan_id,
        epoch,
        optimizer_step,
        place,
        toUInt32(step) AS step,
        toUInt32(position_from_0 + 1) AS position,
        ratio,
        advantage,
        value,
        kl,
        entropy,
        teacher_logprob,
        teacher_top_ids,
        teacher_top_logprobs,
        toBool(is_clipped) AS clipped
    FROM
    (
        SELECT
            run_id, update_number, plan_id, epoch,
            update_token_places AS places,
            update_token_figures AS figures,
            if(length(figures) > length(places), toUInt64(length(figures) - length(places)), intDiv(length(places), 5)) AS n,
            intDiv(toUInt64(length(places) - 5 * n), greatest(n, 1)) AS k
        FROM events
        WHERE episode_id = '' AND kind = 'UpdateTokensTraced'
        ORDER BY run_id, log_id, log_stream, log_partition, log_offset
        LIMIT 1 BY run_id, event_id
    )
    ARRAY JOIN
        arrayMap(x -> toUInt32(x), arraySlice(places, 1, n)) AS optimizer_step,
        arrayMap(x -> toUInt32(x), arraySlice(places, n + 1, n)) AS place,
        arraySlice(places, 2 * n + 1, n) AS step,
        arraySlice(places, 3 * n + 1, n) AS position_from_0,
        arraySlice(places, 4 * n + 1, n) AS is_clipped,
        arraySlice(figures, 1, n) AS ratio,
        arraySlice(figures, n + 1, n) AS advantage,
        arraySlice(figures, 2 * n + 1, n) AS value,
        arraySlice(figures, 3 * n + 1, n) AS kl,
        arraySlice(figures, 4 * n + 1, n) AS entropy,
        if(length(figures) > length(places), arraySlice(figures, 5 * n + 1, n), arrayWithConstant(n, nan)::Array(Float32)) AS teacher_logprob,
        if(k > 0, arraySplit((x, i) -> (i - 1) % greatest(k, 1) = 0, arraySlice(places, 5 * n + 1), arrayEnumerate(arraySlice(places, 5 * n + 1))), arrayWithConstant(n, emptyArrayInt32())) AS teacher_top_ids,
        if(k > 0, arraySplit((x, i) -> (i - 1) % greatest(k, 1) = 0, arraySlice(figures, 6 * n + 1), arrayEnumerate(arraySlice(figures, 6 * n + 1))), arrayWithConstant(n, emptyArrayFloat32())) AS teacher_top_logprobs
) AS t
INNER JOIN
(
    SELECT run_id, update_number, plan_id, epoch, place, episode_run_id, episode_id, group_id
    FROM traced_inputs FINAL
    SETTINGS use_skip_indexes_if_final_exact_mode = 0
) AS i
ON t.run_id = i.run_id AND t.update_number = i.update_number AND t.plan_id = i.plan_id AND t.epoch = i.epoch AND t.place = i.place;
