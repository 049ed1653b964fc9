-- Records that are no events that count, with the reason of each.

CREATE OR REPLACE VIEW dead_letters AS
SELECT
    log_id,
    log_stream,
    log_partition,
    log_offset,
    JSONExtractString(payload, 'code') AS code,
    JSONExtractString(payload, 'reason') AS reason,
    JSONExtractString(payload, 'runId') AS run_id,
    JSONExtractString(payload, 'episodeId') AS episode_id,
    JSONExtractString(payload, 'kind') AS event_kind,
    JSONExtract(payload, 'schemaVersion', 'Nullable(UInt64)') AS schema_version,
    fromUnixTimestamp64Micro(JSONExtract(payload, 'occurredAtUs', 'Nullable(Int64)'), 'UTC') AS occurred_at,
    length(raw) AS size_bytes,
    raw
FROM events
-- With the table's name, because `run_id` is the column selected above.
WHERE events.run_id = '' AND events.episode_id = '' AND kind = '_dead_letter'
ORDER BY log_id, log_stream, log_partition, log_offset
LIMIT 1 BY log_id, log_stream, log_partition, log_offset
UNION ALL
SELECT
    log_id,
    log_stream,
    log_partition,
    log_offset,
    'UNKNOWN_RUN' AS code,
    concat(kind, '.runId is ', run_id, '; must be a run that has started: stream control has no RunStarted of it') AS reason,
    toString(run_id) AS run_id,
    episode_id,
    toString(kind) AS event_kind,
    CAST(schema_version, 'Nullable(UInt64)') AS schema_version,
    CAST(occurred_at, 'Nullable(DateTime64(6, \'UTC\'))') AS occurred_at,
    toUInt64(0) AS size_bytes,
    '' AS raw
FROM events
WHERE events.run_id != '' AND events.episode_id != ''
    AND events.run_id NOT IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted');
