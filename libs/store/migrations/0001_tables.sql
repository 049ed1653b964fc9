-- Replaces migrations up to 0012_update_tokens.sql.

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

    -- Recorded runs: episodes that agents outside Retrace wrote, of which much may be unknown. −1 is an unknown seed, NaN an unknown time.
    external_id String COMMENT 'EpisodeStarted: the id that its caller gave it' CODEC(LZ4),
    parent_episode_id String COMMENT 'EpisodeStarted: the episode that called it; empty for none' CODEC(LZ4),
    tags Array(LowCardinality(String)) COMMENT 'EpisodeStarted',
    metadata String COMMENT 'EpisodeStarted and EpisodeAnnotated: JSON; empty for null' CODEC(ZSTD(1)),
    action_valid_unknown Bool CODEC(LZ4),
    messages String COMMENT 'StepRecorded: JSON; empty for null' CODEC(ZSTD(1)),
    usage Array(Float64) COMMENT 'StepRecorded: tokens of input, cached input, output, reasoning; cost in USD; NaN unknown; empty for none' CODEC(LZ4),
    -- The default is for steps of schema version 1: what findUntrainableReason says.
    untrainable LowCardinality(String) DEFAULT multiIf(
        kind != 'StepRecorded', '',
        NOT has(action_mask, 1), 'no token ids',
        arrayExists((is_action, logprob) -> is_action = 1 AND isNaN(logprob), action_mask, token_logprobs), 'no behavior logprobs',
        temperature IS NULL, 'sampling parameters unknown',
        top_k > 0 OR top_p < 1, 'sampled with top-k or top-p',
        logprob_mode = 'raw' AND temperature != 1, 'logprobs before temperature',
        '') COMMENT 'StepRecorded: why no policy gradient may train on it; empty where one may',

    -- Forks
    forked_from_run_id String COMMENT 'EpisodeStarted: the run of the episode that it was forked from; empty for none, or its own run' CODEC(LZ4),

    -- UpdateTokensTraced: what the loss read of each trained token. Two columns hold all arrays of an event one after the other: most runs leave
    -- them empty, and each further column would cost every insert and merge.
    update_token_places Array(Int32) COMMENT 'UpdateTokensTraced: optimizer steps, episodes, steps, positions, clipped' CODEC(LZ4),
    update_token_figures Array(Float32) COMMENT 'UpdateTokensTraced: ratios, advantages, values, KLs, entropies; NaN = none' CODEC(LZ4),

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

-- Scores of episodes under each reward version. They can be computed again from the events, so they are a projection. Scoring an
-- episode again adds a row; the newest counts.
CREATE TABLE IF NOT EXISTS reward_scores
(
    run_id LowCardinality(String),
    reward_version LowCardinality(String) COMMENT 'Hash of configuration and code',
    episode_id String CODEC(ZSTD(1)),
    scored_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    total Nullable(Float64) COMMENT 'NULL when a component is missing or failed: never 0' CODEC(ZSTD(1)),
    episode_reward Float64 COMMENT 'The part for the episode as a whole' CODEC(ZSTD(1)),
    step_rewards Array(Float64) CODEC(ZSTD(1)),
    component_names Array(LowCardinality(String)),
    component_weights Array(Float64) CODEC(ZSTD(1)),
    component_values Array(Nullable(Float64)) COMMENT 'Unweighted' CODEC(ZSTD(1)),
    component_faults Array(String) COMMENT 'Why it failed or is missing; empty where it has a value' CODEC(ZSTD(1)),
    fault String COMMENT 'Why no component could score it' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(scored_at)
ORDER BY (run_id, reward_version, episode_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS reward_definitions
(
    run_id LowCardinality(String),
    reward_version LowCardinality(String),
    name String,
    definition String COMMENT 'JSON: components with weights and options',
    named_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(named_at)
ORDER BY (run_id, reward_version, name)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Lineage: which episodes fed which update, and with what advantages.
--
-- The sink makes these rows of the event `UpdateTraced`, where the trainer that wrote it held the run, and inserts them before the row of the
-- event. The rows' key follows from the event, so a sink that was killed between the two inserts the same rows again.
--
-- In the order of the updates. The indexes find the few updates that an episode fed: the first where updates use fresh episodes, whose ids are
-- time-ordered, the second where they use older ones too. Granules are small, because a filter is right in 999 of 1,000 and an update has few
-- episodes.
CREATE TABLE IF NOT EXISTS traced_inputs
(
    run_id LowCardinality(String) COMMENT 'Run that was trained',
    update_number UInt64 CODEC(Delta, ZSTD(1)),
    plan_id String CODEC(ZSTD(1)),
    epoch UInt64 COMMENT 'Of the trainer that made the update' CODEC(T64, ZSTD(1)),
    place UInt32 COMMENT 'Of the episode in the plan' CODEC(Delta, ZSTD(1)),
    policy_version_in Int64 COMMENT 'Version that the update starts from' CODEC(Delta, ZSTD(1)),
    episode_run_id LowCardinality(String) COMMENT 'Run of the episode',
    episode_id String CODEC(ZSTD(1)),
    group_id String CODEC(ZSTD(1)),
    first_step UInt32 COMMENT 'The steps first_step to first_step + num_steps - 1 were read' CODEC(T64, ZSTD(1)),
    num_steps UInt32 CODEC(T64, ZSTD(1)),
    times UInt32 COMMENT 'How often each epoch of optimizer steps trains it; 0: left out' CODEC(T64, ZSTD(1)),
    num_tokens UInt32 COMMENT 'Action tokens that the loss counts' CODEC(T64, ZSTD(1)),
    weight Float32 COMMENT 'Mean importance weight of those tokens; NaN without one' CODEC(ZSTD(1)),
    advantage_mean Float32 COMMENT 'Over those tokens; NaN without advantages' CODEC(ZSTD(1)),
    advantage_deviation Float32 CODEC(ZSTD(1)),
    advantage_min Float32 CODEC(ZSTD(1)),
    advantage_max Float32 CODEC(ZSTD(1)),

    INDEX episode_id_minmax episode_id TYPE minmax GRANULARITY 1,
    INDEX episode_id_bloom episode_id TYPE bloom_filter(0.001) GRANULARITY 4
)
ENGINE = ReplacingMergeTree
ORDER BY (run_id, update_number, plan_id, epoch, place)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
