-- Rewards that came with or after an episode, and scores under the versions of a reward.

-- All that were assigned, in their order.
CREATE OR REPLACE VIEW reward_assignments AS
SELECT
    run_id,
    episode_id,
    seq,
    reward_step AS step,
    reward_name AS name,
    reward AS value,
    source,
    JSONExtractString(payload, 'rationale') AS rationale,
    occurred_at AS assigned_at
FROM events
WHERE episode_id != '' AND kind = 'RewardAssigned'
    AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
LIMIT 1 BY run_id, episode_id, seq;

-- The rewards that count now: of several for one step (or episode), name and source the last in log order, unless it was retracted.
CREATE OR REPLACE VIEW current_rewards AS
SELECT run_id, episode_id, step, name, value, source, rationale, assigned_at
FROM
(
    SELECT
        run_id, episode_id, log_id, log_partition, log_offset,
        reward_step AS step,
        reward_name AS name,
        reward AS value,
        source,
        JSONExtractString(payload, 'rationale') AS rationale,
        occurred_at AS assigned_at
    FROM
    (
        -- One that was delivered again is not newer.
        SELECT *
        FROM events
        WHERE episode_id != '' AND kind = 'RewardAssigned'
            AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
        ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
        LIMIT 1 BY run_id, episode_id, seq
    )
    ORDER BY run_id, episode_id, log_id DESC, log_partition DESC, log_offset DESC
    LIMIT 1 BY run_id, episode_id, step, name, source
)
WHERE value IS NOT NULL;

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
