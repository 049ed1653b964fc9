-- Forks: episodes that begin at a step of another one, and the values of steps and actions that they estimate.

-- Forks of steps that `retrace fork` played, with the step that each begins at. How it was played is in the metadata that it started with.
CREATE OR REPLACE VIEW forks AS
WITH
    argMinIf(e.payload, e.log_offset, e.kind = 'EpisodeStarted') AS started,
    argMinIf(e.metadata, e.log_offset, e.kind = 'EpisodeStarted') AS played
SELECT
    argMinIf(e.forked_from_run_id, e.log_offset, e.kind = 'EpisodeStarted') AS run_id,
    JSONExtractString(started, 'forkedFrom', 'episodeId') AS episode_id,
    JSONExtractUInt(started, 'forkedFrom', 'step') AS step,
    e.run_id AS fork_run_id,
    e.episode_id AS fork_episode_id,
    argMinIf(e.agent, e.log_offset, e.kind = 'EpisodeStarted') AS agent,
    JSONExtractString(played, 'fork', 'policy') AS policy,
    toBool(JSONExtractBool(played, 'fork', 'greedy')) AS greedy,
    toBool(JSONExtractBool(played, 'fork', 'forced')) AS forced,
    JSONExtractString(played, 'fork', 'chance') AS chance,
    argMinOrNullIf(e.action, e.log_offset, e.kind = 'StepRecorded') AS action,
    toBool(countIf(e.kind = 'EpisodeEnded') > 0) AS sealed,
    argMinOrNullIf(toString(e.end_reason), e.log_offset, e.kind = 'EpisodeEnded') AS end_reason,
    -- As everywhere: an episode that was cut without a last observation is one whose environment failed.
    toBool(ifNull(end_reason = 'truncated', false) AND argMinIf(e.observation, e.log_offset, e.kind = 'EpisodeEnded') = '') AS failed,
    tupleElement(argMinIf(tuple(e.success), e.log_offset, e.kind = 'EpisodeEnded'), 1) AS success,
    tupleElement(argMinIf(tuple(e.return), e.log_offset, e.kind = 'EpisodeEnded'), 1) AS return,
    argMinOrNullIf(e.num_steps, e.log_offset, e.kind = 'EpisodeEnded') AS num_steps,
    argMinIf(e.occurred_at, e.log_offset, e.kind = 'EpisodeStarted') AS started_at,
    nullIf(argMinIf(e.sampling_seed, e.log_offset, e.kind = 'EpisodeStarted'), -1) AS sampling_seed
FROM events AS e
WHERE e.episode_id != '' AND e.kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded') AND (e.seq <= 1 OR e.kind = 'EpisodeEnded')
    AND e.run_id IN (SELECT run_id FROM events WHERE episode_id != '' AND kind = 'EpisodeStarted' AND forked_from_run_id != '')
    AND e.run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
GROUP BY e.run_id, e.episode_id
HAVING run_id != '';

-- Monte-Carlo values from forks: of a step under a policy, V(s), where `action` is NULL; of an action there, Q(s, a), where it is not.
-- The mean of the returns from the step on, not discounted, with Student's 95 % interval; success with Wilson's. Forks with equal chance are one
-- sample.
CREATE OR REPLACE VIEW step_values AS
WITH
    1.959963984540054 AS z,
    -- 97.5 % quantiles of Student's distribution for 1 to 30 degrees of freedom; beyond, the first terms of Fisher's expansion.
    [12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
     2.200985, 2.178813, 2.160369, 2.144787, 2.13145, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
     2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.04523, 2.042272] AS small,
    if(num_forks <= 31,
        small[toInt64(num_forks) - 1],
        z + (pow(z, 3) + z) / (4 * (num_forks - 1)) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * pow(num_forks - 1, 2))) AS quantile,
    if(num_forks > 1, quantile * stddev_return / sqrt(num_forks), NULL) AS half_width,
    if(num_outcomes = 0, NULL, num_successes / num_outcomes) AS rate,
    1 + z * z / num_outcomes AS wilson_scale,
    z * sqrt(rate * (1 - rate) / num_outcomes + z * z / (4 * num_outcomes * num_outcomes)) AS wilson_width
SELECT
    run_id,
    episode_id,
    step,
    policy,
    greedy,
    played_action AS action,
    num_forks,
    mean_return,
    stddev_return,
    mean_return - half_width AS return_low,
    mean_return + half_width AS return_high,
    rate AS success_rate,
    if(num_outcomes = 0, NULL, (rate + z * z / (2 * num_outcomes) - wilson_width) / wilson_scale) AS success_low,
    if(num_outcomes = 0, NULL, (rate + z * z / (2 * num_outcomes) + wilson_width) / wilson_scale) AS success_high
FROM
(
    SELECT
        run_id, episode_id, step, policy, greedy, played_action,
        count() AS num_forks,
        avg(sample_return) AS mean_return,
        if(count() > 1, stddevSamp(sample_return), NULL) AS stddev_return,
        countIf(tupleElement(sample_success, 1) IS NOT NULL) AS num_outcomes,
        countIf(tupleElement(sample_success, 1)) AS num_successes
    FROM
    (
        SELECT
            run_id, episode_id, step, policy, greedy,
            -- A fork whose policy chose its first action counts for the step and for that action.
            arrayJoin(if(forced, [action], [NULL, action])) AS played_action,
            argMin(return, fork_episode_id) AS sample_return,
            argMin(tuple(success), fork_episode_id) AS sample_success
        FROM forks
        -- A fork that repeats the episode's own chance is no sample of its own.
        WHERE chance != 'parent' AND sealed AND end_reason != 'abandoned' AND NOT failed AND return IS NOT NULL AND action IS NOT NULL
        -- Nor is one with the chance of another fork: the same command run twice, as after a kill, plays the same forks.
        GROUP BY run_id, episode_id, step, policy, greedy, played_action,
            if(sampling_seed IS NULL, fork_episode_id, toString(sampling_seed))
    )
    GROUP BY run_id, episode_id, step, policy, greedy, played_action
);
