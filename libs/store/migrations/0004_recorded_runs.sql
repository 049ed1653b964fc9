-- Recorded runs: episodes that agents outside Retrace wrote, with chat messages, usage, tags and metadata, and of which much may be unknown.
--
-- Fields that became nullable keep their columns: −1 is an unknown seed, NaN an unknown time, and `action_valid_unknown` is beside
-- `action_valid`. A Nullable type would have every part of the table written again.
ALTER TABLE events
    ADD COLUMN IF NOT EXISTS external_id String COMMENT 'EpisodeStarted: the id that its caller gave it' CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS parent_episode_id String COMMENT 'EpisodeStarted: the episode that called it; empty for none' CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS tags Array(LowCardinality(String)) COMMENT 'EpisodeStarted',
    ADD COLUMN IF NOT EXISTS metadata String COMMENT 'EpisodeStarted and EpisodeAnnotated: JSON; empty for null' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS action_valid_unknown Bool CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS messages String COMMENT 'StepRecorded: JSON; empty for null' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS usage Array(Float64) COMMENT 'StepRecorded: tokens of input, cached input, output, reasoning; cost in USD; NaN unknown; empty for none' CODEC(LZ4),
    -- The default is for steps of schema version 1: what findUntrainableReason says.
    ADD COLUMN IF NOT EXISTS untrainable LowCardinality(String) DEFAULT multiIf(
        kind != 'StepRecorded', '',
        NOT has(action_mask, 1), 'no token ids',
        arrayExists((is_action, logprob) -> is_action = 1 AND isNaN(logprob), action_mask, token_logprobs), 'no behavior logprobs',
        temperature IS NULL, 'sampling parameters unknown',
        top_k > 0 OR top_p < 1, 'sampled with top-k or top-p',
        logprob_mode = 'raw' AND temperature != 1, 'logprobs before temperature',
        '') COMMENT 'StepRecorded: why no policy gradient may train on it; empty where one may';

CREATE OR REPLACE VIEW runs AS
SELECT
    started.run_id AS run_id,
    JSONExtractString(started.payload, 'name') AS name,
    JSONExtractString(started.payload, 'recipeHash') AS recipe_hash,
    JSONExtractInt(started.payload, 'seed') AS seed,
    started.environment AS environment,
    if(JSONExtractString(started.payload, 'runKind') = 'recorded', 'recorded', 'trained') AS kind,
    JSONExtract(started.payload, 'tags', 'Array(String)') AS tags,
    nullIf(JSONExtractRaw(started.payload, 'metadata'), '') AS metadata,
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
WITH
    -- An annotation has its tags as JSON in `payload`, where null is unchanged. Of several the newest counts.
    argMaxIf(e.payload, tuple(e.occurred_at, e.log_offset), e.kind = 'EpisodeAnnotated' AND e.payload != 'null') AS annotated_tags,
    argMaxIf(e.metadata, tuple(e.occurred_at, e.log_offset), e.kind = 'EpisodeAnnotated' AND e.metadata != '') AS annotated_metadata
SELECT
    e.run_id AS run_id,
    e.episode_id AS episode_id,
    argMinIf(e.group_id, e.log_offset, e.kind = 'EpisodeStarted') AS group_id,
    argMinIf(e.group_size, e.log_offset, e.kind = 'EpisodeStarted') AS group_size,
    argMinIf(e.group_member, e.log_offset, e.kind = 'EpisodeStarted') AS group_member,
    argMinIf(e.environment, e.log_offset, e.kind = 'EpisodeStarted') AS environment,
    nullIf(argMinIf(e.environment_seed, e.log_offset, e.kind = 'EpisodeStarted'), -1) AS environment_seed,
    nullIf(argMinIf(e.sampling_seed, e.log_offset, e.kind = 'EpisodeStarted'), -1) AS sampling_seed,
    argMinIf(e.split, e.log_offset, e.kind = 'EpisodeStarted') AS split,
    argMinIf(e.agent, e.log_offset, e.kind = 'EpisodeStarted') AS agent,
    JSONExtractRaw(argMinIf(e.payload, e.log_offset, e.kind = 'EpisodeStarted'), 'task') AS task,
    argMinIf(e.external_id, e.log_offset, e.kind = 'EpisodeStarted') AS external_id,
    nullIf(argMinIf(e.parent_episode_id, e.log_offset, e.kind = 'EpisodeStarted'), '') AS parent_episode_id,
    if(
        annotated_tags = '',
        CAST(argMinIf(e.tags, e.log_offset, e.kind = 'EpisodeStarted'), 'Array(String)'),
        JSONExtract(annotated_tags, 'Array(String)')) AS tags,
    nullIf(
        if(annotated_metadata = '', argMinIf(e.metadata, e.log_offset, e.kind = 'EpisodeStarted'), annotated_metadata),
        '') AS metadata,
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
WHERE e.episode_id != '' AND e.kind IN ('EpisodeStarted', 'EpisodeEnded', 'EpisodeAnnotated')
    AND e.run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
GROUP BY e.run_id, e.episode_id
HAVING countIf(e.kind != 'EpisodeAnnotated') > 0;

CREATE OR REPLACE VIEW steps AS
SELECT
    run_id,
    episode_id,
    toUInt64(seq - 1) AS step,
    occurred_at,
    observation,
    action,
    parsed_action,
    if(e.action_valid_unknown, NULL, e.action_valid) AS action_valid,
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
    if(isNaN(e.generation_ms), NULL, e.generation_ms) AS generation_ms,
    if(isNaN(e.environment_ms), NULL, e.environment_ms) AS environment_ms,
    snapshot,
    nullIf(e.messages, '') AS messages,
    -- An empty list in place of the usage: nothing is known of it.
    if(notEmpty(usage) AND isFinite(usage[1]), toUInt64(usage[1]), NULL) AS input_tokens,
    if(notEmpty(usage) AND isFinite(usage[2]), toUInt64(usage[2]), NULL) AS cached_input_tokens,
    if(notEmpty(usage) AND isFinite(usage[3]), toUInt64(usage[3]), NULL) AS output_tokens,
    if(notEmpty(usage) AND isFinite(usage[4]), toUInt64(usage[4]), NULL) AS reasoning_tokens,
    if(notEmpty(usage) AND isFinite(usage[5]), usage[5], NULL) AS cost_usd,
    untrainable
FROM
(
    -- All kinds that share the episode's numbering, so that of two records with one number the first counts.
    SELECT *
    FROM events
    WHERE episode_id != '' AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded')
        AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, episode_id, seq
) AS e
WHERE kind = 'StepRecorded';

-- The rewards that count now: of several for one step (or episode), name and source the last in log order, unless it was retracted.
CREATE OR REPLACE VIEW current_rewards AS
SELECT run_id, episode_id, step, name, value, source, rationale, assigned_at
FROM
(
    SELECT
        run_id, episode_id, log_id, log_partition, log_offset,
        reward_step AS step,
        reward_name AS name,
        reward AS value,
        source,
        JSONExtractString(payload, 'rationale') AS rationale,
        occurred_at AS assigned_at
    FROM
    (
        -- One that was delivered again is not newer.
        SELECT *
        FROM events
        WHERE episode_id != '' AND kind = 'RewardAssigned'
            AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
        ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
        LIMIT 1 BY run_id, episode_id, seq
    )
    ORDER BY run_id, episode_id, log_id DESC, log_partition DESC, log_offset DESC
    LIMIT 1 BY run_id, episode_id, step, name, source
)
WHERE value IS NOT NULL;
