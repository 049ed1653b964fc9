-- Whose a record is that this code could not decode: what its envelope says, where that could be read.
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
-- By name: `run_id` alone would be the column above.
WHERE events.run_id = '' AND events.episode_id = '' AND kind = '_dead_letter'
ORDER BY log_id, log_stream, log_partition, log_offset
LIMIT 1 BY log_id, log_stream, log_partition, log_offset;
