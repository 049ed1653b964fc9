import { real, nonNegative, text } from '@retrace/algorithms/registry';
import { registerReward } from '../component.js';

/** Rewards that come from what the environment recorded. Importing this file registers them. */

registerReward(import.meta.url, {
  name: 'environment',
  description: "The environment's own reward of each step; missing where a step has none recorded",
  readsOutcomesOnly: true,
  options: {},
  score: ({ steps }) => ({ scope: 'step', values: steps.map((step) => step.reward) }),
});

registerReward(import.meta.url, {
  name: 'environmentComponent',
  description: "One named part of the environment's reward; 0 where a rewarded step does not list it",
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

registerReward(import.meta.url, {
  name: 'goal',
  description: 'One value for success, another for failure; missing where success is not known',
  readsOutcomesOnly: true,
  options: { success: real(1), failure: real(-1) },
  score: (episode, { success, failure }) => ({
    scope: 'episode',
    value: episode.success === null ? null : episode.success ? success : failure,
  }),
});

registerReward(import.meta.url, {
  name: 'invalidAction',
  description: 'Cost of each action that the environment could not understand',
  readsOutcomesOnly: true,
  options: { penalty: nonNegative(0.1) },
  score: ({ steps }, { penalty }) => ({
    scope: 'step',
    values: steps.map((step) => (step.actionValid ? 0 : -penalty)),
  }),
});

registerReward(import.meta.url, {
  name: 'timePenalty',
  description: 'Cost of each step',
  readsOutcomesOnly: true,
  options: { penalty: nonNegative(0.01) },
  score: ({ steps }, { penalty }) => ({ scope: 'step', values: steps.map(() => -penalty) }),
});
