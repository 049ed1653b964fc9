-- The rule of a monitor that a warning says is broken, what to do about it, and the episodes concerned.
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
