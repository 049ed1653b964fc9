/** Example queries. */
export const EXAMPLES: readonly { readonly title: string; readonly query: string }[] = [
  {
    title: 'Success by policy version',
    query: `SELECT policy_version_max AS policy_version,
       count() AS episodes,
       round(avg(success), 3) AS success_rate,
       round(avg(\`return\`), 3) AS mean_return
FROM episodes
WHERE sealed AND split = 'train' AND agent = 'policy'
GROUP BY policy_version
ORDER BY policy_version DESC
LIMIT 100`,
  },
  {
    title: 'Most confident mistakes',
    query: `SELECT run_id, episode_id, step, action,
       round(exp(arraySum(arrayFilter((logprob, sampled) -> sampled, token_logprobs, action_mask))), 3) AS probability,
       reward, observation
FROM steps
WHERE reward < 0
ORDER BY probability DESC
LIMIT 50`,
  },
  {
    title: 'Actions by frequency and validity',
    query: `SELECT action, count() AS taken,
       round(avg(action_valid), 3) AS valid,
       round(avg(reward), 4) AS mean_reward
FROM steps
GROUP BY action
ORDER BY taken DESC
LIMIT 50`,
  },
  {
    title: 'Groups without a learning signal',
    query: `SELECT policy_version, count() AS num_groups,
       round(countIf(spread = 0) / count(), 3) AS without_signal
FROM (
  SELECT group_id, max(policy_version_max) AS policy_version, max(\`return\`) - min(\`return\`) AS spread
  FROM episodes
  WHERE sealed AND split = 'train'
  GROUP BY group_id
  HAVING count() > 1
)
GROUP BY policy_version
ORDER BY policy_version DESC
LIMIT 100`,
  },
  {
    title: 'Entropy along an episode',
    query: `SELECT step, count() AS steps,
       round(avg(arrayAvg(arrayFilter((entropy, sampled) -> sampled, token_entropies, action_mask))), 3) AS entropy
FROM steps
WHERE length(token_entropies) > 0
GROUP BY step
ORDER BY step`,
  },
  {
    title: 'Newest updates',
    query: `SELECT update_number, policy_version_in, policy_version_out, num_episodes,
       metrics['train/loss'] AS loss, metrics['train/entropy'] AS entropy, applied_at
FROM updates
ORDER BY update_number DESC
LIMIT 50`,
  },
];
