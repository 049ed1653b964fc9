-- What people did about alarms. Alarms themselves are rows of `warnings` with severity `alarm`, and runs that failed.

CREATE OR REPLACE VIEW alarm_acknowledgements AS
SELECT
    run_id,
    JSONExtractString(payload, 'alarmSource') AS source,
    JSONExtractString(payload, 'rule') AS rule,
    JSONExtractString(payload, 'message') AS message,
    JSONExtractString(payload, 'note') AS note,
    JSONExtractString(payload, 'source') AS acknowledged_by,
    occurred_at AS acknowledged_at
FROM
(
    SELECT *
    FROM events
    WHERE episode_id = '' AND kind = 'AlarmAcknowledged'
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, event_id
);

-- The newest silence of each run and rule, also where it is over. The empty run stands for all of them.
CREATE OR REPLACE VIEW alarm_silences AS
SELECT
    run_id,
    JSONExtractString(payload, 'rule') AS rule,
    fromUnixTimestamp64Micro(JSONExtractInt(payload, 'untilUs'), 'UTC') AS silenced_until,
    JSONExtractString(payload, 'note') AS note,
    JSONExtractString(payload, 'source') AS silenced_by,
    occurred_at AS silenced_at
FROM
(
    SELECT *
    FROM
    (
        SELECT *
        FROM events
        WHERE episode_id = '' AND kind = 'AlarmSilenced'
        ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
        LIMIT 1 BY run_id, event_id
    )
    ORDER BY occurred_at DESC, log_offset DESC
    LIMIT 1 BY run_id, JSONExtractString(payload, 'rule')
);
