-- Runs, and what was said of them as a whole.
--
-- The views are what people and services query. Each takes the first record in log order under one key, so a record that a retry, a
-- second sink or a second writer added is never shown twice.

-- A run's own events are read once and in one pass: in a store of many runs, each pass reads a granule of every run.
CREATE OR REPLACE VIEW runs AS
WITH
    tuple(e.seq, e.log_id, e.log_stream, e.log_partition, e.log_offset) AS place,
    argMinIf(e.payload, place, e.kind = 'RunStarted') AS started,
    argMinIf(e.payload, e.log_offset, e.kind = 'BaselinesMeasured') AS measured,
    -- What an annotation leaves out stays as it was.
    argMaxIf(
        JSONExtractRaw(e.payload, 'tags'), e.log_offset,
        e.kind = 'RunAnnotated' AND JSONType(e.payload, 'tags') = 'Array') AS annotated_tags,
    JSONExtractString(started, 'runKind') = 'recorded' AS is_recorded,
    -- A run that was stopped has ended until a trainer claims it again: the first claim of the highest epoch decides. The end of a recorded run
    -- is that of its episodes, which a trainer outside may still learn from.
    NOT is_recorded
        AND argMaxIf(e.log_offset, tuple(e.epoch, -toInt64(e.log_offset)), e.kind = 'TrainerClaimed')
            > maxIf(e.log_offset, e.kind = 'RunEnded') AS is_resumed,
    countIf(e.kind = 'RunEnded') > 0 AND NOT is_resumed AS has_ended
SELECT
    e.run_id AS run_id,
    JSONExtractString(started, 'name') AS name,
    JSONExtractString(started, 'recipeHash') AS recipe_hash,
    JSONExtractInt(started, 'seed') AS seed,
    toLowCardinality(argMinIf(e.environment, place, e.kind = 'RunStarted')) AS environment,
    if(is_recorded, 'recorded', 'trained') AS kind,
    JSONExtract(if(annotated_tags = '', JSONExtractRaw(started, 'tags'), annotated_tags), 'Array(String)') AS tags,
    JSONExtract(started, 'tags', 'Array(String)') AS started_tags,
    argMaxIf(
        JSONExtractString(e.payload, 'notes'), e.log_offset,
        e.kind = 'RunAnnotated' AND JSONType(e.payload, 'notes') = 'String') AS notes,
    toBool(argMaxIf(
        JSONExtractBool(e.payload, 'starred'), e.log_offset,
        e.kind = 'RunAnnotated' AND JSONType(e.payload, 'starred') = 'Bool')) AS starred,
    toBool(argMaxIf(
        JSONExtractBool(e.payload, 'archived'), e.log_offset,
        e.kind = 'RunAnnotated' AND JSONType(e.payload, 'archived') = 'Bool')) AS archived,
    nullIf(JSONExtractRaw(started, 'metadata'), '') AS metadata,
    JSONExtractString(started, 'codeVersion') AS code_version,
    argMinIf(e.occurred_at, place, e.kind = 'RunStarted') AS started_at,
    if(has_ended, argMaxIf(e.occurred_at, e.log_offset, e.kind = 'RunEnded'), NULL) AS ended_at,
    if(has_ended, argMaxIf(toString(e.end_reason), e.log_offset, e.kind = 'RunEnded'), NULL) AS end_reason,
    if(has_ended, argMaxIf(JSONExtractString(e.payload, 'detail'), e.log_offset, e.kind = 'RunEnded'), NULL) AS end_detail,
    JSONExtractRaw(started, 'recipe') AS recipe,
    -- A run's own event has them in runs that were started when they had been measured.
    JSONExtractRaw(if(measured = '', started, measured), 'baselines') AS baselines
FROM events AS e
WHERE e.episode_id = '' AND e.kind IN ('RunStarted', 'RunEnded', 'TrainerClaimed', 'BaselinesMeasured', 'RunAnnotated')
GROUP BY e.run_id
HAVING countIf(e.kind = 'RunStarted') > 0;

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

-- With the rule of a monitor that is broken, what to do about it, and the episodes concerned.
CREATE OR REPLACE VIEW warnings AS
SELECT
    run_id,
    source,
    JSONExtractString(payload, 'severity') AS severity,
    JSONExtract(payload, 'step', 'Nullable(Int64)') AS step,
    JSONExtractString(payload, 'message') AS message,
    JSONExtractUInt(payload, 'numTimes') AS num_times,
    occurred_at AS raised_at,
    JSONExtractString(payload, 'rule') AS rule,
    JSONExtractString(payload, 'advice') AS advice,
    JSONExtract(payload, 'episodeIds', 'Array(String)') AS episode_ids
FROM
(
    SELECT *
    FROM events
    WHERE episode_id = '' AND kind = 'WarningRaised'
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, event_id
);

-- Figures of each validated or tested policy: a row for all tasks of a decoding, and one for each family where there are several. The first
-- validation of a version on a split counts.
CREATE OR REPLACE VIEW validations AS
SELECT
    run_id,
    policy_version,
    update_number,
    toString(split) AS split,
    JSONExtractString(row, 'decoding') AS decoding,
    JSONExtract(row, 'family', 'Nullable(String)') AS family,
    JSONExtractUInt(row, 'numTasks') AS num_tasks,
    JSONExtractUInt(row, 'numEpisodes') AS num_episodes,
    JSONExtractUInt(row, 'numSuccesses') AS num_successes,
    JSONExtractUInt(row, 'numUnknown') AS num_unknown,
    JSONExtractUInt(row, 'numFailed') AS num_failed,
    JSONExtract(row, 'successRate', 'Nullable(Float64)') AS success,
    JSONExtractFloat(row, 'successLow') AS success_low,
    JSONExtractFloat(row, 'successHigh') AS success_high,
    mapFromArrays(
        arrayMap(x -> JSONExtractUInt(x, 'k'), JSONExtractArrayRaw(row, 'passAtK')),
        arrayMap(x -> JSONExtractFloat(x, 'pass'), JSONExtractArrayRaw(row, 'passAtK'))) AS pass_at_k,
    JSONExtract(row, 'meanReturn', 'Nullable(Float64)') AS mean_return,
    seconds,
    validated_at
FROM
(
    SELECT
        run_id,
        policy_version,
        update_number,
        split,
        JSONExtractFloat(payload, 'seconds') AS seconds,
        JSONExtractArrayRaw(payload, 'rows') AS rows,
        occurred_at AS validated_at
    FROM events
    WHERE episode_id = '' AND kind = 'PolicyValidated'
    ORDER BY run_id, policy_version, split, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, policy_version, split
)
ARRAY JOIN rows AS row;
