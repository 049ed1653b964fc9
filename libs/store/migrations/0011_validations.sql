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
