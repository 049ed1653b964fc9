-- The one fact table: a row for every record of the event log, in the part that its batch became.
--
-- The sorting key ends in the record's place in the log, so a batch that was inserted twice collapses while two
-- different records under one (run_id, episode_id, seq) both stay; reads take the first in log order.
-- Ids are text: ClickHouse orders UUID by its second half, which would scatter time-ordered episode ids. Integers are as wide
-- as an event may carry them; the codecs leave nothing of the difference.
CREATE TABLE IF NOT EXISTS events
(
    run_id LowCardinality(String) COMMENT 'Run; empty for records that belong to none',
    episode_id String COMMENT 'Episode, time-ordered; empty for control events' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Place in the episode; RewardAssigned counts on its own' CODEC(Delta, ZSTD(1)),
    log_id LowCardinality(String) COMMENT 'Identity of the event log that holds the record',
    log_stream LowCardinality(String) COMMENT 'trajectories or control',
    log_partition UInt16 CODEC(T64, ZSTD(1)),
    log_offset UInt64 CODEC(Delta, ZSTD(1)),

    kind LowCardinality(String) COMMENT 'Event kind; _dead_letter and _watermark are the sink''s own',
    schema_version UInt16 CODEC(T64, ZSTD(1)),
    event_id UUID CODEC(ZSTD(1)),
    content_checksum FixedString(16) COMMENT 'Identity of the content: without times, latencies and place in the log' CODEC(ZSTD(1)),
    occurred_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),

    -- EpisodeStarted
    group_id String CODEC(ZSTD(1)),
    group_size UInt64 CODEC(T64, ZSTD(1)),
    group_member UInt64 CODEC(T64, ZSTD(1)),
    environment LowCardinality(String) COMMENT 'Also RunStarted',
    environment_seed Int64 CODEC(ZSTD(1)),
    sampling_seed Int64 CODEC(ZSTD(1)),
    split LowCardinality(String) COMMENT 'Also GroupsClosed',
    agent LowCardinality(String),

    -- StepRecorded; EpisodeEnded fills observation, kept_prefix_tokens and token_ids with the final observation
    observation String CODEC(ZSTD(1)),
    action String CODEC(ZSTD(1)),
    parsed_action Nullable(String) CODEC(ZSTD(1)),
    action_valid Bool CODEC(ZSTD(1)),
    anchor Nullable(String) CODEC(ZSTD(1)),
    reward Nullable(Float64) COMMENT 'Of the step, or the value of a RewardAssigned; missing is not zero' CODEC(ZSTD(1)),
    reward_names Array(LowCardinality(String)),
    reward_values Array(Float64) CODEC(ZSTD(1)),
    terminated Bool CODEC(ZSTD(1)),
    truncated Bool CODEC(ZSTD(1)),
    kept_prefix_tokens UInt64 CODEC(T64, ZSTD(1)),
    token_ids Array(Int32) CODEC(T64, ZSTD(1)),
    action_mask Array(UInt8) CODEC(ZSTD(1)),
    token_logprobs Array(Float32) CODEC(ZSTD(1)),
    has_raw_logprobs Bool CODEC(ZSTD(1)),
    token_raw_logprobs Array(Float32) COMMENT 'Empty where unknown' CODEC(ZSTD(1)),
    has_entropies Bool CODEC(ZSTD(1)),
    token_entropies Array(Float32) COMMENT 'Empty where unknown' CODEC(ZSTD(1)),
    token_policy_versions Array(Int32) CODEC(T64, ZSTD(1)),
    temperature Nullable(Float64) COMMENT 'Sampling parameters; null where nothing was sampled' CODEC(ZSTD(1)),
    top_k UInt64 CODEC(T64, ZSTD(1)),
    top_p Float64 CODEC(ZSTD(1)),
    greedy Bool CODEC(ZSTD(1)),
    max_new_tokens UInt64 CODEC(T64, ZSTD(1)),
    engine LowCardinality(String),
    model LowCardinality(String),
    tokenizer_hash LowCardinality(String),
    logprob_mode LowCardinality(String),
    generation_ms Float32 CODEC(ZSTD(1)),
    environment_ms Float32 CODEC(ZSTD(1)),
    snapshot Nullable(String) CODEC(ZSTD(1)),

    -- EpisodeEnded
    end_reason LowCardinality(String) COMMENT 'Also RunEnded and GroupsClosed',
    num_steps UInt64 CODEC(T64, ZSTD(1)),
    return Nullable(Float64) CODEC(ZSTD(1)),
    success Nullable(Bool) CODEC(ZSTD(1)),
    num_tokens UInt64 CODEC(T64, ZSTD(1)),
    num_action_tokens UInt64 CODEC(T64, ZSTD(1)),
    policy_version_min Int64 CODEC(T64, ZSTD(1)),
    policy_version_max Int64 CODEC(T64, ZSTD(1)),

    -- RewardAssigned
    reward_step Nullable(UInt64) COMMENT 'Step rewarded; null for the whole episode' CODEC(ZSTD(1)),
    reward_name LowCardinality(String),

    -- Updates and policies
    plan_id String CODEC(ZSTD(1)),
    epoch UInt64 COMMENT 'Of the trainer that wrote the event' CODEC(T64, ZSTD(1)),
    update_number UInt64 CODEC(T64, ZSTD(1)),
    policy_version Int64 COMMENT 'In for BatchPlanned, out for UpdateApplied and PolicyPublished' CODEC(T64, ZSTD(1)),

    -- MetricsLogged and UpdateApplied
    source LowCardinality(String) COMMENT 'Also RewardAssigned',
    metric_step Int64 CODEC(ZSTD(1)),
    metric_names Array(LowCardinality(String)),
    metric_values Array(Float64) CODEC(ZSTD(1)),

    payload String COMMENT 'JSON: what the typed columns do not hold; info for a step' CODEC(ZSTD(1)),
    raw String COMMENT 'The bytes of a _dead_letter' CODEC(ZSTD(1)),

    INDEX episode_id_bloom episode_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX kind_set kind TYPE set(16) GRANULARITY 1,
    INDEX log_offset_minmax log_offset TYPE minmax GRANULARITY 1,
    INDEX occurred_at_minmax occurred_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset)
SETTINGS
    -- 256 episodes picked at random: 87 ms; with 1 MiB granules 137 ms, with 128 KiB 76 ms but slower listings.
    index_granularity_bytes = 262144,
    -- A part is on disk before its insert is confirmed; merged parts too, since they replace what was.
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 60;
