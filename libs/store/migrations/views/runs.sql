-- Runs, and what was said of them as a whole.
--
-- The views are what people and services query. Each takes the first record in log order under one key, so a record that a retry, a
-- second sink or a second writer added is never shown twice.

CREATE OR REPLACE VIEW runs AS
SELECT
    started.run_id AS run_id,
    JSONExtractString(started.payload, 'name') AS name,
    JSONExtractString(started.payload, 'recipeHash') AS recipe_hash,
    JSONExtractInt(started.payload, 'seed') AS seed,
    started.environment AS environment,
    if(JSONExtractString(started.payload, 'runKind') = 'recorded', 'recorded', 'trained') AS kind,
    if(
        annotated.tags = '',
        JSONExtract(started.payload, 'tags', 'Array(String)'),
        JSONExtract(annotated.tags, 'Array(String)')) AS tags,
    JSONExtract(started.payload, 'tags', 'Array(String)') AS started_tags,
    annotated.notes AS notes,
    toBool(annotated.starred) AS starred,
    toBool(annotated.archived) AS archived,
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
    -- A run that was stopped has ended until a trainer claims it again: the first claim of the highest epoch decides. The end of a recorded run
    -- is that of its episodes, which a trainer outside may still learn from.
    SELECT
        e.run_id AS run_id,
        countIf(e.kind = 'RunStarted' AND JSONExtractString(e.payload, 'runKind') = 'recorded') = 0
            AND argMaxIf(e.log_offset, tuple(e.epoch, -toInt64(e.log_offset)), e.kind = 'TrainerClaimed')
                > maxIf(e.log_offset, e.kind = 'RunEnded') AS is_resumed,
        if(is_resumed, NULL, argMaxIf(e.occurred_at, e.log_offset, e.kind = 'RunEnded')) AS ended_at,
        if(is_resumed, NULL, argMaxIf(toString(e.end_reason), e.log_offset, e.kind = 'RunEnded')) AS end_reason,
        if(is_resumed, NULL, argMaxIf(JSONExtractString(e.payload, 'detail'), e.log_offset, e.kind = 'RunEnded')) AS end_detail
    FROM events AS e
    WHERE e.episode_id = '' AND e.kind IN ('RunStarted', 'RunEnded', 'TrainerClaimed')
    GROUP BY e.run_id
    HAVING countIf(e.kind = 'RunEnded') > 0
) AS ended ON started.run_id = ended.run_id
LEFT JOIN
(
    SELECT run_id, JSONExtractRaw(argMin(payload, log_offset), 'baselines') AS baselines
    FROM events
    WHERE episode_id = '' AND kind = 'BaselinesMeasured'
    GROUP BY run_id
) AS measured ON started.run_id = measured.run_id
LEFT JOIN
(
    -- What an annotation leaves out stays as it was.
    SELECT
        run_id,
        argMaxIf(JSONExtractRaw(payload, 'tags'), log_offset, JSONType(payload, 'tags') = 'Array') AS tags,
        argMaxIf(JSONExtractString(payload, 'notes'), log_offset, JSONType(payload, 'notes') = 'String') AS notes,
        argMaxIf(JSONExtractBool(payload, 'starred'), log_offset, JSONType(payload, 'starred') = 'Bool') AS starred,
        argMaxIf(JSONExtractBool(payload, 'archived'), log_offset, JSONType(payload, 'archived') = 'Bool') AS archived
    FROM events
    WHERE episode_id = '' AND kind = 'RunAnnotated'
    GROUP BY run_id
) AS annotated ON started.run_id = annotated.run_id;

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
