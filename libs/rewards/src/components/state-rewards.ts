import { nullable, positive, real } from '@retrace/algorithms/registry';
import { registerReward } from '../component.js';

/*
 * Rewards that know a state again by its anchor. Importing this file registers them. A step without an anchor leaves them
 * missing: whether its state was met before cannot be known.
 */

registerReward(import.meta.url, {
  name: 'explorationBonus',
  description:
    'Bonus/√(visits) for each step, by how often its state was visited before, in the run and in the episode',
  readsOutcomesOnly: true,
  countsVisits: true,
  options: { bonus: positive(0.01), maxVisits: nullable(positive(100)) },
  score({ steps }, { bonus, maxVisits }, { visitCount }) {
    if (visitCount === undefined)
      throw new Error('explorationBonus needs visitCount, the visits of the run so far');
    const inEpisode = new Map<string, number>();
    const values = steps.map(({ anchor }) => {
      if (anchor === null) return null;
      const visits = (inEpisode.get(anchor) ?? 0) + 1;
      inEpisode.set(anchor, visits);
      const total = visitCount(anchor) + visits;
      return maxVisits !== null && total > maxVisits ? 0 : bonus / Math.sqrt(total);
    });
    return { scope: 'step', values };
  },
});

registerReward(import.meta.url, {
  name: 'policyConsistency',
  description:
    'One value for acting in a state as the last time in the episode, another for acting otherwise; 0 on first visits',
  options: { same: real(0), different: real(-0.1) },
  score({ steps }, { same, different }) {
    const lastActions = new Map<string, string>();
    const values = steps.map(({ anchor, action, parsedAction }) => {
      if (anchor === null) return null;
      const taken = parsedAction ?? action;
      const before = lastActions.get(anchor);
      lastActions.set(anchor, taken);
      if (before === undefined) return 0;
      return before === taken ? same : different;
    });
    return { scope: 'step', values };
  },
});
