-- The view of steps, with the mark of a rewritten context: imports, adapters and the collector put it into the step's info.
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
        AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, episode_id, seq
) AS e
WHERE kind = 'StepRecorded';
