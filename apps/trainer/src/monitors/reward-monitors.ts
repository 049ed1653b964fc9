import { concerned, isSolved, percent, selectSeries, TREND, computeTrend, type Monitor } from './monitor.js';

/** More episodes lack a reward than the recipe allows. */
export const missingRewards: Monitor = ({ episodes, rules: { missingRewardFraction: bound = 0.2 } }) => {
  const { totals } = episodes;
  const isMissing = (episode: number) => Number.isNaN(totals[episode]);
  const numMissing = totals.filter((_, episode) => isMissing(episode)).length;
  const fraction = numMissing / Math.max(1, totals.length);
  if (bound === null || fraction <= bound) return null;
  return {
    severity: 'alarm',
    message: `${percent(fraction)} of the episodes have no reward (${numMissing} of ${totals.length}); the bound is ${percent(bound)}`,
    advice:
      'look at the named episodes: did their environment fail, or does a reward component fail on them?',
    episodeIds: concerned(episodes, isMissing),
  };
};

/** All rewards of several updates in a row are the same, so that no group has a signal, and the task is not solved. */
export const saturatedRewards: Monitor = ({
  update,
  before,
  episodes,
  rules: { equalRewardUpdates: bound = 3 },
}) => {
  if (bound === null) return null;
  const recent = [...before, update].slice(-bound);
  const isEqual = recent.every(
    ({ metrics }) => metrics.has('reward/max') && metrics.get('reward/max') === metrics.get('reward/min'),
  );
  if (recent.length < bound || !isEqual || isSolved(update)) return null;
  return {
    severity: 'alarm',
    message: `all episodes of the last ${bound} updates have the same reward, ${update.metrics.get('reward/max')}`,
    advice: 'the reward tells the policy nothing any more: take other tasks or a finer reward',
    episodeIds: concerned(episodes, () => true),
  };
};

/**
 * Reward hacking: over the last ten updates the reward, or one of its components, rises while the share of episodes that reach their goal falls, both
 * by Spearman's ρ with the order of the updates.
 */
export const rewardHacking: Monitor = ({
  update,
  before,
  episodes,
  rules: { hackingCorrelation: bound = 0.6 },
}) => {
  if (bound === null) return null;
  const recent = [...before, update].slice(-TREND);
  const success = selectSeries(recent, 'success/mean');
  if (success.length < TREND || computeTrend(success) > -bound) return null;
  const rising = [...update.metrics.keys()]
    .filter((name) => name === 'reward/mean' || name.startsWith('reward/component/'))
    .map((name) => ({ name, values: selectSeries(recent, name) }))
    .filter(({ values }) => values.length === TREND && computeTrend(values) >= bound)
    .map(({ name }) => name);
  if (rising.length === 0) return null;
  const [from, to] = [success[0], success[success.length - 1]];
  return {
    severity: 'alarm',
    message: `${rising.join(', ')} rose over the last ${TREND} updates while the success fell from ${percent(from)} to ${percent(to)}`,
    advice:
      'read the named episodes, which have a high reward and no success; then lower the weight of that component or give it only to solved episodes',
    episodeIds: concerned(
      episodes,
      (episode) => episodes.successes[episode] === 0 && !Number.isNaN(episodes.totals[episode]),
      (episode) => episodes.totals[episode],
    ),
  };
};
