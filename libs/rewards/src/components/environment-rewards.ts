import { nullable, positive, real, nonNegative, text } from '@retrace/algorithms/registry';
import { defineReward } from '../component.js';

/** Rewards that come from what the environment recorded. Importing this file registers them. */

defineReward({
  name: 'environment',
  description: "The environment's own reward of each step; missing where a step has none recorded",
  codeVersion: 1,
  readsOutcomesOnly: true,
  options: {},
  score: ({ steps }) => ({ scope: 'step', values: steps.map((step) => step.reward) }),
});

defineReward({
  name: 'environmentComponent',
  description: "One named part of the environment's reward; 0 where a rewarded step does not list it",
  codeVersion: 1,
  options: { component: text('') },
  optionsFault: ({ component }) =>
    component === '' ? 'component is empty, must name a reward of the environment' : null,
  score: ({ steps }, { component }) => ({
    scope: 'step',
    values: steps.map(({ reward, rewardNames, rewardValues }) => {
      const index = rewardNames.indexOf(component);
      if (index !== -1) return rewardValues[index];
      return reward === null ? null : 0;
    }),
  }),
});

defineReward({
  name: 'goal',
  description: 'One value for success, another for failure; missing where success is not known',
  codeVersion: 1,
  readsOutcomesOnly: true,
  options: { success: real(1), failure: real(-1) },
  score: (episode, { success, failure }) => ({
    scope: 'episode',
    value: episode.success === null ? null : episode.success ? success : failure,
  }),
});

defineReward({
  name: 'invalidAction',
  description: 'Cost of each action that the environment could not understand',
  codeVersion: 1,
  readsOutcomesOnly: true,
  options: { penalty: nonNegative(0.1) },
  score: ({ steps }, { penalty }) => ({
    scope: 'step',
    values: steps.map((step) => (step.actionValid ? 0 : -penalty)),
  }),
});

defineReward({
  name: 'timePenalty',
  description: 'Cost of each step',
  codeVersion: 1,
  readsOutcomesOnly: true,
  options: { penalty: nonNegative(0.01) },
  score: ({ steps }, { penalty }) => ({ scope: 'step', values: steps.map(() => -penalty) }),
});

defineReward({
  name: 'explorationBonus',
  description:
    'Bonus/√(visits) for each step, by how often its state was visited before, in the run and in the episode',
  codeVersion: 1,
  readsOutcomesOnly: true,
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
