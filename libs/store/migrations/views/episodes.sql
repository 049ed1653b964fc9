-- Episodes and their steps.
--
-- They count once their run has started. RunStarted is in stream `control`, which has no order with theirs, so the views decide it and not
-- the sink. Until then the events are dead letters with code UNKNOWN_RUN.
--
-- The views `stored_…` leave that question to those who ask about one run: its answer takes a look at every run of the store.

CREATE OR REPLACE VIEW stored_episodes AS
WITH
    -- An annotation has its tags as JSON in `payload`, where null is unchanged. Of several the newest counts.
    argMaxIf(e.payload, tuple(e.occurred_at, e.log_offset), e.kind = 'EpisodeAnnotated' AND e.payload != 'null') AS annotated_tags,
    argMaxIf(e.metadata, tuple(e.occurred_at, e.log_offset), e.kind = 'EpisodeAnnotated' AND e.metadata != '') AS annotated_metadata,
    argMinIf(e.forked_from_run_id, e.log_offset, e.kind = 'EpisodeStarted') AS other_run,
    JSONExtractRaw(argMinIf(e.payload, e.log_offset, e.kind = 'EpisodeStarted'), 'forkedFrom') AS fork
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
    nullIf(JSONExtractString(fork, 'episodeId'), '') AS forked_from_episode_id,
    if(forked_from_episode_id IS NULL, NULL, if(other_run = '', e.run_id, other_run)) AS forked_from_run_id,
    if(forked_from_episode_id IS NULL, NULL, JSONExtractUInt(fork, 'step')) AS forked_from_step,
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
GROUP BY e.run_id, e.episode_id
HAVING countIf(e.kind != 'EpisodeAnnotated') > 0;

CREATE OR REPLACE VIEW episodes AS
SELECT *
FROM stored_episodes
WHERE run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted');

CREATE OR REPLACE VIEW stored_steps AS
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
    token_routed_experts,
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
    -- The recorder's mark that the prompt did not keep the whole conversation, but so many of its messages.
    JSONExtract(e.payload, 'keptMessages', 'Nullable(UInt64)') AS kept_messages,
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
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, episode_id, seq
) AS e
WHERE kind = 'StepRecorded';

CREATE OR REPLACE VIEW steps AS
SELECT *
FROM stored_steps
WHERE run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted');
