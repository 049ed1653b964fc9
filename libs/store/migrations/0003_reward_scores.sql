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

CREATE OR REPLACE VIEW reward_versions AS
SELECT run_id, reward_version, name, definition, named_at
FROM reward_definitions
ORDER BY run_id, reward_version, name, named_at DESC
LIMIT 1 BY run_id, reward_version, name;

CREATE OR REPLACE VIEW scores AS
SELECT
    run_id,
    reward_version,
    episode_id,
    total,
    episode_reward,
    step_rewards,
    mapFromArrays(CAST(component_names, 'Array(String)'), component_values) AS components,
    mapFromArrays(CAST(component_names, 'Array(String)'), component_weights) AS weights,
    mapFilter((name, reason) -> reason != '', mapFromArrays(CAST(component_names, 'Array(String)'), component_faults)) AS faults,
    fault,
    scored_at
FROM reward_scores
ORDER BY run_id, reward_version, episode_id, scored_at DESC
LIMIT 1 BY run_id, reward_version, episode_id;
