-- The views that people and services query. Each takes the first record in log order under one key, so a record that a retry, a
-- second sink or a second writer added is never shown twice.
--
-- Episode events count once their run has started. RunStarted is in stream `control`, which has no order with theirs, so the views
-- decide it and not the sink. Until then the events are dead letters with code UNKNOWN_RUN.

CREATE OR REPLACE VIEW runs AS
SELECT
    started.run_id AS run_id,
    JSONExtractString(started.payload, 'name') AS name,
    JSONExtractString(started.payload, 'recipeHash') AS recipe_hash,
    JSONExtractInt(started.payload, 'seed') AS seed,
    started.environment AS environment,
    JSONExtractString(started.payload, 'codeVersion') AS code_version,
    started.occurred_at AS started_at,
    ended.ended_at AS ended_at,
    ended.end_reason AS end_reason,
    ended.end_detail AS end_detail,
    JSONExtractRaw(started.payload, 'recipe') AS recipe,
    -- A run's own event has them in runs that were started when they had been measured.
    if(measured.baselines = '', JSONExtractRaw(started.payload, 'baselines'), measured.baselines) AS baselines
FROM
(
    SELECT run_id, environment, occurred_at, payload
    FROM events
    WHERE episode_id = '' AND kind = 'RunStarted'
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id
) AS started
LEFT JOIN
(
    -- A run that was stopped has ended until a trainer claims it again: the first claim of the highest epoch decides.
    SELECT
        e.run_id AS run_id,
        argMaxIf(e.log_offset, tuple(e.epoch, -toInt64(e.log_offset)), e.kind = 'TrainerClaimed')
            > maxIf(e.log_offset, e.kind = 'RunEnded') AS is_resumed,
        if(is_resumed, NULL, argMaxIf(e.occurred_at, e.log_offset, e.kind = 'RunEnded')) AS ended_at,
        if(is_resumed, NULL, argMaxIf(toString(e.end_reason), e.log_offset, e.kind = 'RunEnded')) AS end_reason,
        if(is_resumed, NULL, argMaxIf(JSONExtractString(e.payload, 'detail'), e.log_offset, e.kind = 'RunEnded')) AS end_detail
    FROM events AS e
    WHERE e.episode_id = '' AND e.kind IN ('RunEnded', 'TrainerClaimed')
    GROUP BY e.run_id
    HAVING countIf(e.kind = 'RunEnded') > 0
) AS ended ON started.run_id = ended.run_id
LEFT JOIN
(
    SELECT run_id, JSONExtractRaw(argMin(payload, log_offset), 'baselines') AS baselines
    FROM events
    WHERE episode_id = '' AND kind = 'BaselinesMeasured'
    GROUP BY run_id
) AS measured ON started.run_id = measured.run_id;

CREATE OR REPLACE VIEW episodes AS
SELECT
    e.run_id AS run_id,
    e.episode_id AS episode_id,
    argMinIf(e.group_id, e.log_offset, e.kind = 'EpisodeStarted') AS group_id,
    argMinIf(e.group_size, e.log_offset, e.kind = 'EpisodeStarted') AS group_size,
    argMinIf(e.group_member, e.log_offset, e.kind = 'EpisodeStarted') AS group_member,
    argMinIf(e.environment, e.log_offset, e.kind = 'EpisodeStarted') AS environment,
    argMinIf(e.environment_seed, e.log_offset, e.kind = 'EpisodeStarted') AS environment_seed,
    argMinIf(e.sampling_seed, e.log_offset, e.kind = 'EpisodeStarted') AS sampling_seed,
    argMinIf(e.split, e.log_offset, e.kind = 'EpisodeStarted') AS split,
    argMinIf(e.agent, e.log_offset, e.kind = 'EpisodeStarted') AS agent,
    JSONExtractRaw(argMinIf(e.payload, e.log_offset, e.kind = 'EpisodeStarted'), 'task') AS task,
    argMinIf(e.occurred_at, e.log_offset, e.kind = 'EpisodeStarted') AS started_at,
    argMinOrNullIf(e.occurred_at, e.log_offset, e.kind = 'EpisodeEnded') AS ended_at,
    toBool(countIf(e.kind = 'EpisodeEnded') > 0) AS sealed,
    argMinOrNullIf(toString(e.end_reason), e.log_offset, e.kind = 'EpisodeEnded') AS end_reason,
    JSONExtractString(argMinIf(e.payload, e.log_offset, e.kind = 'EpisodeEnded'), 'endDetail') AS end_detail,
    -- In a tuple, because argMin skips nulls and a null in the first record must win.
    tupleElement(argMinIf(tuple(e.success), e.log_offset, e.kind = 'EpisodeEnded'), 1) AS success,
    tupleElement(argMinIf(tuple(e.return), e.log_offset, e.kind = 'EpisodeEnded'), 1) AS return,
    argMinOrNullIf(e.num_steps, e.log_offset, e.kind = 'EpisodeEnded') AS num_steps,
    argMinOrNullIf(e.num_tokens, e.log_offset, e.kind = 'EpisodeEnded') AS num_tokens,
    argMinOrNullIf(e.num_action_tokens, e.log_offset, e.kind = 'EpisodeEnded') AS num_action_tokens,
    argMinOrNullIf(e.policy_version_min, e.log_offset, e.kind = 'EpisodeEnded') AS policy_version_min,
    argMinOrNullIf(e.policy_version_max, e.log_offset, e.kind = 'EpisodeEnded') AS policy_version_max,
    argMinIf(e.observation, e.log_offset, e.kind = 'EpisodeEnded') AS final_observation,
    argMinIf(e.token_ids, e.log_offset, e.kind = 'EpisodeEnded') AS final_token_ids
FROM events AS e
WHERE e.episode_id != '' AND e.kind IN ('EpisodeStarted', 'EpisodeEnded')
    AND e.run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
GROUP BY e.run_id, e.episode_id;

CREATE OR REPLACE VIEW steps AS
SELECT
    run_id,
    episode_id,
    toUInt64(seq - 1) AS step,
    occurred_at,
    observation,
    action,
    parsed_action,
    action_valid,
    anchor,
    reward,
    reward_names,
    reward_values,
    terminated,
    truncated,
    payload AS info,
    kept_prefix_tokens,
    token_ids,
    action_mask,
    token_logprobs,
    token_raw_logprobs,
    token_entropies,
    token_policy_versions,
    temperature,
    top_k,
    top_p,
    greedy,
    max_new_tokens,
    engine,
    model,
    tokenizer_hash,
    logprob_mode,
    generation_ms,
    environment_ms,
    snapshot
FROM
(
    -- All kinds that share the episode's numbering, so that of two records with one number the first counts.
    SELECT *
    FROM events
    WHERE episode_id != '' AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded')
        AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, episode_id, seq
)
WHERE kind = 'StepRecorded';

CREATE OR REPLACE VIEW reward_assignments AS
SELECT
    run_id,
    episode_id,
    seq,
    reward_step AS step,
    reward_name AS name,
    reward AS value,
    source,
    JSONExtractString(payload, 'rationale') AS rationale,
    occurred_at AS assigned_at
FROM events
WHERE episode_id != '' AND kind = 'RewardAssigned'
    AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
LIMIT 1 BY run_id, episode_id, seq;

-- A GroupsClosed event holds the groups of a round as columns. Counted from 1, group g has the members offsets[g] + 1 to offsets[g + 1]
-- of the lists.
CREATE OR REPLACE VIEW groups AS
SELECT
    run_id,
    group_id,
    JSONExtractUInt(payload, 'round') AS round,
    split,
    end_reason AS reason,
    size AS group_size,
    arraySlice(JSONExtract(payload, 'episodeIds', 'Array(String)'), first + 1, next - first) AS episode_ids,
    arraySlice(JSONExtract(payload, 'numSteps', 'Array(UInt64)'), first + 1, next - first) AS num_steps,
    version_min AS policy_version_min,
    version_max AS policy_version_max,
    toBool(JSONExtractBool(payload, 'trainable')) AS trainable,
    occurred_at AS closed_at
FROM
(
    SELECT
        run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset, payload, split, end_reason, occurred_at,
        JSONExtract(payload, 'memberOffsets', 'Array(UInt64)') AS offsets
    FROM events
    WHERE episode_id = '' AND kind = 'GroupsClosed'
)
ARRAY JOIN
    JSONExtract(payload, 'groupIds', 'Array(String)') AS group_id,
    JSONExtract(payload, 'groupSizes', 'Array(UInt64)') AS size,
    arrayPopBack(offsets) AS first,
    arrayPopFront(offsets) AS next,
    JSONExtract(payload, 'policyVersionMin', 'Array(Int64)') AS version_min,
    JSONExtract(payload, 'policyVersionMax', 'Array(Int64)') AS version_max
ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
LIMIT 1 BY run_id, group_id;

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
        JSONExtractString(e.payload, 'optimizer', 'sha256'), e.log_offset, e.kind = 'UpdateApplied') AS optimizer_sha256
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
    occurred_at AS published_at
FROM current_trainer_events
WHERE kind = 'PolicyPublished';

CREATE OR REPLACE VIEW metrics AS
SELECT
    run_id,
    source,
    metric_step AS step,
    name,
    value,
    occurred_at
FROM
(
    SELECT *
    FROM events
    WHERE episode_id = '' AND kind = 'MetricsLogged'
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, event_id
)
ARRAY JOIN metric_names AS name, metric_values AS value;

CREATE OR REPLACE VIEW warnings AS
SELECT
    run_id,
    source,
    JSONExtractString(payload, 'severity') AS severity,
    JSONExtract(payload, 'step', 'Nullable(Int64)') AS step,
    JSONExtractString(payload, 'message') AS message,
    JSONExtractUInt(payload, 'numTimes') AS num_times,
    occurred_at AS raised_at
FROM
(
    SELECT *
    FROM events
    WHERE episode_id = '' AND kind = 'WarningRaised'
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, event_id
);

CREATE OR REPLACE VIEW dead_letters AS
SELECT
    log_id,
    log_stream,
    log_partition,
    log_offset,
    JSONExtractString(payload, 'code') AS code,
    JSONExtractString(payload, 'reason') AS reason,
    JSONExtractString(payload, 'runId') AS run_id,
    JSONExtractString(payload, 'episodeId') AS episode_id,
    JSONExtractString(payload, 'kind') AS event_kind,
    JSONExtract(payload, 'schemaVersion', 'Nullable(UInt64)') AS schema_version,
    fromUnixTimestamp64Micro(JSONExtract(payload, 'occurredAtUs', 'Nullable(Int64)'), 'UTC') AS occurred_at,
    length(raw) AS size_bytes,
    raw
FROM events
-- With the table's name, because `run_id` is the column selected above.
WHERE events.run_id = '' AND events.episode_id = '' AND kind = '_dead_letter'
ORDER BY log_id, log_stream, log_partition, log_offset
LIMIT 1 BY log_id, log_stream, log_partition, log_offset
UNION ALL
SELECT
    log_id,
    log_stream,
    log_partition,
    log_offset,
    'UNKNOWN_RUN' AS code,
    concat(kind, '.runId is ', run_id, '; must be a run that has started: stream control has no RunStarted of it') AS reason,
    toString(run_id) AS run_id,
    episode_id,
    toString(kind) AS event_kind,
    CAST(schema_version, 'Nullable(UInt64)') AS schema_version,
    CAST(occurred_at, 'Nullable(DateTime64(6, \'UTC\'))') AS occurred_at,
    toUInt64(0) AS size_bytes,
    '' AS raw
FROM events
WHERE events.run_id != '' AND events.episode_id != ''
    AND events.run_id NOT IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted');
