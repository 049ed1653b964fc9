import { choice, nonNegative, real, text } from '@retrace/algorithms/registry';
import { registerReward } from '../component.js';
import type { RewardStep } from '../episode.js';

/* Rewards from the environment's own records. Importing this file registers them. */

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
  description:
    'What the episode came to as one number for the whole of it: a value for success and one for failure, or its score; missing where that is not known',
  readsOutcomesOnly: true,
  options: {
    measure: choice('success', 'return', 'finalReward'),
    success: real(1),
    failure: real(-1),
  },
  score: ({ success, steps }, options) => ({
    scope: 'episode',
    value: options.measure === 'success' ? ofSuccess(success, options) : scoreOf(steps, options.measure),
  }),
});

function ofSuccess(
  success: boolean | null,
  values: { readonly success: number; readonly failure: number },
): number | null {
  if (success === null) return null;
  return success ? values.success : values.failure;
}

/** Environments that grade give their score as the reward of the last step, or in parts. */
function scoreOf(
  steps: readonly Pick<RewardStep, 'reward'>[],
  measure: 'return' | 'finalReward',
): number | null {
  const graded = measure === 'return' ? steps : steps.slice(-1);
  if (graded.length === 0) return null;
  let sum = 0;
  for (const { reward } of graded) {
    if (reward === null) return null;
    sum += reward;
  }
  return sum;
}

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
