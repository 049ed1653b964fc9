-- The only fact table: one row for every record of the event log. A batch of the sink is one insert and becomes one part.
--
-- The sorting key ends in the record's position in the log: a batch inserted twice collapses to one, while two different records
-- under one (run_id, episode_id, seq) both stay, and reads take the first in log order.
--
-- Ids are text, because ClickHouse orders UUIDs by their second half, which would scatter time-ordered episode ids. Integers are as
-- wide as an event may carry them; compressed, the unused bytes cost nothing.
--
-- Only long texts are compressed with ZSTD. In a small part a column of a granule is a block of a few hundred bytes, and the engine
-- creates a ZSTD context for each block: a quarter of the CPU of an insert of 2,800 rows, a third of that of a merge. Measured on
-- steps of FrozenLake, LZ4 takes 110 bytes a row instead of 97, saves 8 of 45 ms of an insert, lowers a merge from 20 to 14 µs a
-- row, and reads 10 to 25 % faster.
CREATE TABLE IF NOT EXISTS events
(
    run_id LowCardinality(String) COMMENT 'Run; empty for records that belong to none',
    episode_id String COMMENT 'Episode, time-ordered; empty for control events' CODEC(LZ4),
    seq UInt64 COMMENT 'Place in the episode; RewardAssigned counts on its own' CODEC(Delta, LZ4),
    log_id LowCardinality(String) COMMENT 'Identity of the event log that holds the record',
    log_stream LowCardinality(String) COMMENT 'trajectories or control',
    log_partition UInt16 CODEC(T64, LZ4),
    log_offset UInt64 CODEC(Delta, LZ4),

    kind LowCardinality(String) COMMENT 'Event kind; _dead_letter and _watermark are the sink''s own',
    schema_version UInt16 CODEC(T64, LZ4),
    event_id UUID CODEC(LZ4),
    content_checksum FixedString(16) COMMENT 'Identity of the content: without times, latencies and place in the log' CODEC(LZ4),
    occurred_at DateTime64(6, 'UTC') CODEC(Delta, LZ4),

    -- EpisodeStarted
    group_id String CODEC(LZ4),
    group_size UInt64 CODEC(T64, LZ4),
    group_member UInt64 CODEC(T64, LZ4),
    environment LowCardinality(String) COMMENT 'Also RunStarted',
    environment_seed Int64 CODEC(LZ4),
    sampling_seed Int64 CODEC(LZ4),
    split LowCardinality(String) COMMENT 'Also GroupsClosed',
    agent LowCardinality(String),

    -- StepRecorded; EpisodeEnded fills observation, kept_prefix_tokens and token_ids with the final observation
    observation String CODEC(ZSTD(1)),
    action String CODEC(ZSTD(1)),
    parsed_action Nullable(String) CODEC(LZ4),
    action_valid Bool CODEC(LZ4),
    anchor Nullable(String) CODEC(ZSTD(1)),
    reward Nullable(Float64) COMMENT 'Of the step, or the value of a RewardAssigned; missing is not zero' CODEC(LZ4),
    reward_names Array(LowCardinality(String)),
    reward_values Array(Float64) CODEC(LZ4),
    terminated Bool CODEC(LZ4),
    truncated Bool CODEC(LZ4),
    kept_prefix_tokens UInt64 CODEC(T64, LZ4),
    token_ids Array(Int32) CODEC(T64, LZ4),
    action_mask Array(UInt8) CODEC(LZ4),
    token_logprobs Array(Float32) CODEC(LZ4),
    has_raw_logprobs Bool CODEC(LZ4),
    token_raw_logprobs Array(Float32) COMMENT 'Empty where unknown' CODEC(LZ4),
    has_entropies Bool CODEC(LZ4),
    token_entropies Array(Float32) COMMENT 'Empty where unknown' CODEC(LZ4),
    token_policy_versions Array(Int32) CODEC(T64, LZ4),
    temperature Nullable(Float64) COMMENT 'Sampling parameters; null where nothing was sampled' CODEC(LZ4),
    top_k UInt64 CODEC(T64, LZ4),
    top_p Float64 CODEC(LZ4),
    greedy Bool CODEC(LZ4),
    max_new_tokens UInt64 CODEC(T64, LZ4),
    engine LowCardinality(String),
    model LowCardinality(String),
    tokenizer_hash LowCardinality(String),
    logprob_mode LowCardinality(String),
    generation_ms Float32 CODEC(LZ4),
    environment_ms Float32 CODEC(LZ4),
    snapshot Nullable(String) CODEC(ZSTD(1)),

    -- EpisodeEnded
    end_reason LowCardinality(String) COMMENT 'Also RunEnded and GroupsClosed',
    num_steps UInt64 CODEC(T64, LZ4),
    return Nullable(Float64) CODEC(LZ4),
    success Nullable(Bool) CODEC(LZ4),
    num_tokens UInt64 CODEC(T64, LZ4),
    num_action_tokens UInt64 CODEC(T64, LZ4),
    policy_version_min Int64 CODEC(T64, LZ4),
    policy_version_max Int64 CODEC(T64, LZ4),

    -- RewardAssigned
    reward_step Nullable(UInt64) COMMENT 'Step rewarded; null for the whole episode' CODEC(LZ4),
    reward_name LowCardinality(String),

    -- Updates and policies
    plan_id String CODEC(LZ4),
    epoch UInt64 COMMENT 'Of the trainer that wrote the event' CODEC(T64, LZ4),
    update_number UInt64 CODEC(T64, LZ4),
    policy_version Int64 COMMENT 'In for BatchPlanned, out for UpdateApplied and PolicyPublished' CODEC(T64, LZ4),

    -- MetricsLogged and UpdateApplied
    source LowCardinality(String) COMMENT 'Also RewardAssigned and WarningRaised',
    metric_step Int64 CODEC(LZ4),
    metric_names Array(LowCardinality(String)),
    metric_values Array(Float64) CODEC(LZ4),

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
    -- Reading 256 random episodes takes 87 ms; with granules of 1 MiB 137 ms, with 128 KiB 76 ms but slower listings.
    index_granularity_bytes = 262144,
    -- A part is on disk before its insert is confirmed, and a merged part before it replaces its sources.
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 60,
    -- A sink makes three or four parts a second beside a training run, most of them of 500 to 2,500 rows, and each part costs a reader
    -- in key order half a millisecond of planning: merging at 40 parts instead of 100 lowered the median of the API's episode list from
    -- 71 to 44 ms. With the base below, 20 is better still.
    min_parts_to_merge_at_once = 20,
    max_parts_to_merge_at_once = 200,
    -- The engine counts 5 MiB for every part whatever its size, so a minimum number of parts alone merges the one large part with
    -- every few small ones: 3.1 rows rewritten for each row inserted over 130 updates of a run, more in a longer run. The base is the
    -- ratio between the sum and the largest part, which the engine lowers as parts become many; 60 spares the large parts: 1.0 rows
    -- rewritten, 46 instead of 119 ms of merging an update, and 23 instead of 37 parts for a reader to plan with.
    merge_selector_base = 60,
    -- A wide part has 230 files to sync; below 64 MiB all columns are in one file.
    min_bytes_for_wide_part = 67108864;
