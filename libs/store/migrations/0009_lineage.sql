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

-- What fed an update: the rows with its number. Which updates used an episode: the rows with its id. Rows with one key are equal, so the indexes
-- may choose granules before equal rows collapse.
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
