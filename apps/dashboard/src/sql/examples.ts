export interface ExampleQuery {
  readonly title: string;
  readonly query: string;
}

export interface ExampleGroup {
  readonly title: string;
  readonly queries: readonly ExampleQuery[];
}

/** The newest run; the queries are there to be changed. */
const RUN = 'run_id = (SELECT max(run_id) FROM runs)';

const LEARNING: ExampleGroup = {
  title: 'Does it learn?',
  queries: [
    {
      title: 'Success by policy version',
      query: `SELECT policy_version_max AS policy_version,
       round(avg(success), 3) AS success_rate,
       round(avg(\`return\`), 3) AS mean_return,
       count() AS episodes
FROM episodes
WHERE ${RUN}
  AND sealed AND split = 'train' AND agent = 'policy'
GROUP BY policy_version
ORDER BY policy_version`,
    },
    {
      title: 'Success of the last ten runs',
      query: `SELECT max(step) AS round, round(avg(value), 4) AS success, run
FROM (
  SELECT m.step AS step, m.value AS value,
         concat(r.name, ' ', substring(r.run_id, -8)) AS run,
         intDiv(step * 80, max(step) OVER (PARTITION BY run) + 1) AS part
  FROM metrics AS m
  INNER JOIN (SELECT run_id, name FROM runs ORDER BY run_id DESC LIMIT 10) AS r ON r.run_id = m.run_id
  WHERE m.name = 'rollout/success'
)
GROUP BY run, part
ORDER BY run, round`,
    },
    {
      title: 'Length of episodes over training',
      query: `SELECT policy_version_max AS policy_version,
       round(avg(num_steps), 2) AS steps,
       round(avg(num_action_tokens), 2) AS action_tokens,
       quantile(0.95)(num_action_tokens) AS action_tokens_p95
FROM episodes
WHERE ${RUN}
  AND sealed AND agent = 'policy'
GROUP BY policy_version
ORDER BY policy_version`,
    },
    {
      title: 'Newest updates',
      query: `SELECT update_number, policy_version_in, policy_version_out, num_episodes,
       metrics['train/loss'] AS loss, metrics['train/entropy'] AS entropy,
       dateDiff('millisecond', planned_at, applied_at) AS milliseconds, applied_at
FROM updates
WHERE ${RUN}
ORDER BY update_number DESC
LIMIT 50`,
    },
    {
      title: 'Warnings',
      query: `SELECT raised_at, source, severity, step, message, num_times
FROM warnings
ORDER BY raised_at DESC
LIMIT 50`,
    },
  ],
};

const OFF_POLICY: ExampleGroup = {
  title: 'What did the updates learn from?',
  queries: [
    {
      title: 'Staleness of each update',
      query: `SELECT u.update_number AS update_number,
       avg(u.policy_version_in - e.policy_version_min) AS mean_staleness,
       max(u.policy_version_in - e.policy_version_min) AS max_staleness
FROM (
  SELECT update_number, policy_version_in, arrayJoin(episode_ids) AS episode_id
  FROM updates
  WHERE ${RUN}
) AS u
INNER JOIN (
  SELECT episode_id, policy_version_min
  FROM episodes
  WHERE ${RUN} AND sealed AND policy_version_min >= 0
) AS e ON u.episode_id = e.episode_id
GROUP BY update_number
ORDER BY update_number`,
    },
    {
      title: 'Episodes that did most to the newest update',
      query: `SELECT episode_run_id AS run_id, episode_id, num_tokens, round(advantage_mean, 4) AS advantage,
       round(num_tokens * abs(advantage_mean) / sum(num_tokens * abs(advantage_mean)) OVER (), 4) AS share
FROM update_inputs
WHERE ${RUN}
  AND update_number = (SELECT max(update_number) FROM update_inputs WHERE ${RUN})
ORDER BY share DESC
LIMIT 50`,
    },
    {
      title: 'Clipped tokens and ratios of each update',
      query: `SELECT update_number,
       round(avg(clipped), 4) AS clipped_share,
       round(avg(ratio), 4) AS mean_ratio,
       round(quantile(0.99)(ratio), 4) AS ratio_p99,
       count() AS tokens
FROM update_tokens
WHERE ${RUN}
GROUP BY update_number
ORDER BY update_number`,
    },
    {
      title: 'Tokens that moved most in the newest update',
      query: `SELECT t.episode_run_id AS run_id, t.episode_id AS episode_id, t.step AS step, s.action AS action,
       s.token_ids[t.position] AS token_id, t.ratio AS ratio, t.advantage AS advantage, t.clipped AS clipped
FROM update_tokens AS t
INNER JOIN (
  SELECT run_id, episode_id, step, action, token_ids
  FROM steps
  WHERE (run_id, episode_id) IN (
    SELECT episode_run_id, episode_id
    FROM update_inputs
    WHERE ${RUN}
      AND update_number = (SELECT max(update_number) FROM update_tokens WHERE ${RUN})
  )
) AS s ON s.run_id = t.episode_run_id AND s.episode_id = t.episode_id AND s.step = t.step
WHERE t.${RUN}
  AND t.update_number = (SELECT max(update_number) FROM update_tokens WHERE ${RUN})
ORDER BY abs(log(t.ratio)) DESC
LIMIT 50`,
    },
    {
      title: 'Groups without a learning signal',
      query: `SELECT policy_version,
       round(countIf(spread = 0) / count(), 3) AS without_signal,
       count() AS num_groups
FROM (
  SELECT group_id, max(policy_version_max) AS policy_version, max(\`return\`) - min(\`return\`) AS spread
  FROM episodes
  WHERE ${RUN}
    AND sealed AND split = 'train'
  GROUP BY group_id
  HAVING count() > 1
)
GROUP BY policy_version
ORDER BY policy_version`,
    },
  ],
};

const FAILURES: ExampleGroup = {
  title: 'Where does it fail?',
  queries: [
    {
      title: 'Failures by task',
      query: `SELECT task, count() AS episodes, countIf(success = 0) AS failures,
       round(avg(success), 3) AS success_rate, round(avg(\`return\`), 3) AS mean_return
FROM episodes
WHERE ${RUN} AND sealed
GROUP BY task
ORDER BY success_rate, failures DESC
LIMIT 100`,
    },
    {
      title: 'How episodes ended',
      query: `SELECT end_reason, end_detail, count() AS episodes,
       round(avg(success), 3) AS success_rate, round(avg(num_steps), 1) AS steps
FROM episodes
WHERE ${RUN} AND sealed
GROUP BY end_reason, end_detail
ORDER BY episodes DESC
LIMIT 50`,
    },
    {
      title: 'Most confident mistakes',
      query: `SELECT run_id, episode_id, step, action,
       round(exp(arraySum(arrayFilter((logprob, sampled) -> sampled, token_logprobs, action_mask))), 3) AS probability,
       reward, observation
FROM steps
WHERE ${RUN} AND reward < 0
ORDER BY probability DESC
LIMIT 50`,
    },
    {
      title: 'Actions that were not understood',
      query: `SELECT action, count() AS steps
FROM steps
WHERE ${RUN} AND NOT action_valid
GROUP BY action
ORDER BY steps DESC
LIMIT 50`,
    },
    {
      title: 'Episodes that repeat themselves',
      query: `SELECT run_id, episode_id, count() AS steps, uniqExact(action) AS different_actions,
       round(1 - uniqExact(action) / count(), 3) AS repeated
FROM steps
WHERE ${RUN}
GROUP BY run_id, episode_id
HAVING steps > 3
ORDER BY repeated DESC, steps DESC
LIMIT 50`,
    },
    {
      title: 'Actions by frequency and validity',
      query: `SELECT action, count() AS taken,
       round(avg(action_valid), 3) AS valid,
       round(avg(reward), 4) AS mean_reward
FROM steps
WHERE ${RUN}
GROUP BY action
ORDER BY taken DESC
LIMIT 50`,
    },
  ],
};

const REWARDS: ExampleGroup = {
  title: 'Is the reward honest?',
  queries: [
    {
      title: 'Failures that were paid most',
      query: `SELECT run_id, episode_id, \`return\`, num_steps, end_reason, final_observation
FROM episodes
WHERE ${RUN} AND sealed AND success = 0
ORDER BY \`return\` DESC
LIMIT 50`,
    },
    {
      title: 'Parts of the reward, by success',
      query: `SELECT part.1 AS name,
       round(avgIf(part.2, e.success = 1), 4) AS of_successes,
       round(avgIf(part.2, e.success = 0), 4) AS of_failures,
       count() AS steps
FROM (
  SELECT episode_id, arrayJoin(arrayZip(reward_names, reward_values)) AS part
  FROM steps
  WHERE ${RUN}
) AS s
INNER JOIN (
  SELECT episode_id, success FROM episodes WHERE ${RUN} AND sealed
) AS e ON e.episode_id = s.episode_id
GROUP BY name
ORDER BY name`,
    },
    {
      title: 'Length against return',
      query: `SELECT num_action_tokens AS action_tokens,
       round(avg(\`return\`), 3) AS mean_return,
       round(avg(success), 3) AS success_rate,
       count() AS episodes
FROM episodes
WHERE ${RUN} AND sealed
GROUP BY action_tokens
ORDER BY action_tokens
LIMIT 1000`,
    },
  ],
};

const COST: ExampleGroup = {
  title: 'What does it cost?',
  queries: [
    {
      title: 'Tokens and cost by model',
      query: `SELECT model, engine, count() AS steps,
       sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
       sum(output_tokens) AS output_tokens, round(sum(cost_usd), 4) AS cost_usd
FROM steps
GROUP BY model, engine
ORDER BY steps DESC
LIMIT 100`,
    },
    {
      title: 'Milliseconds of a step: model and environment',
      query: `SELECT token_policy_versions[1] AS policy_version,
       round(avg(generation_ms), 3) AS generation_mean,
       round(quantile(0.99)(generation_ms), 3) AS generation_p99,
       round(avg(environment_ms), 3) AS environment_mean,
       count() AS steps
FROM steps
WHERE ${RUN} AND length(token_policy_versions) > 0
GROUP BY policy_version
ORDER BY policy_version`,
    },
    {
      title: 'Entropy along an episode',
      query: `SELECT step,
       round(avg(arrayAvg(arrayFilter((entropy, sampled) -> sampled, token_entropies, action_mask))), 3) AS entropy,
       count() AS steps
FROM steps
WHERE ${RUN} AND length(token_entropies) > 0
GROUP BY step
ORDER BY step`,
    },
  ],
};

/** Ready-made queries for the questions that people ask. */
export const EXAMPLES: readonly ExampleGroup[] = [LEARNING, OFF_POLICY, FAILURES, REWARDS, COST];

/** The query of a page that nothing was asked on yet. */
export const FIRST_QUERY = LEARNING.queries[0].query;
