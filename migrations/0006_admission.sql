-- Episode events count once their run has started: in stream `control`, which has no order with theirs, so that no sink could decide it
-- once and for all. Until then they are dead letters that mend by themselves.
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
    -- In a tuple because argMin skips nulls, and the first record's null must win.
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
    -- All kinds that share the episode's numbering: what lies at a number twice counts once.
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
-- By name: `run_id` alone would be the column above.
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

-- What lies at a place that other content holds is a dead letter since, with code CONFLICT.
DROP VIEW IF EXISTS conflicts;
