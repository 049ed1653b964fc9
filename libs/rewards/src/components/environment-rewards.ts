import { choice, nearNames, nonNegative, real, text } from '@retrace/algorithms/registry';
import { registerReward } from '../component.js';
import type { RewardEpisode, RewardStep } from '../episode.js';

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
  description:
    "One named part of the environment's reward; 0 where the parts that a step lists add up to its reward without it, and else missing",
  options: { component: text('') },
  optionsFault: ({ component }) =>
    component === '' ? 'component is empty, must name a reward of the environment' : null,
  episodesFault: (episodes, { component }) => unknownPart(component, episodes),
  score: ({ steps }, { component }) => ({
    scope: 'step',
    values: steps.map((step) => findPart(step, component)),
  }),
});

/** Relative to the reward, but at least to 1: parts are stored as float64, and sums of them round. */
const SUM_TOLERANCE = 1e-6;

function findPart({ reward, rewardNames, rewardValues }: RewardStep, component: string): number | null {
  const index = rewardNames.indexOf(component);
  if (index !== -1) return rewardValues[index];
  if (reward === null) return null;
  const sum = Array.from(rewardValues).reduce((total, value) => total + value, 0);
  return Math.abs(sum - reward) <= SUM_TOLERANCE * Math.max(1, Math.abs(reward)) ? 0 : null;
}

/**
 * Why no part of that name is to be expected, by the names that the episodes show: one of them is nearly the same, or each step with a reward lists the
 * same ones. An environment may list a part only where it is not 0, so that others are missing says nothing.
 */
function unknownPart(component: string, episodes: readonly Pick<RewardEpisode, 'steps'>[]): string | null {
  const shown = new Set<string>();
  const lists = new Set<string>();
  for (const { steps } of episodes) {
    for (const { reward, rewardNames } of steps) {
      for (const name of rewardNames) shown.add(name);
      if (reward !== null) lists.add(rewardNames.join('\n'));
    }
  }
  if (shown.size === 0 || shown.has(component)) return null;
  const near = nearNames(component, [...shown]);
  const isComplete = lists.size === 1;
  if (near.length === 0 && !isComplete) return null;
  return `component is "${component}", must be a part that the environment lists: ${[...shown].sort().join(', ')}`;
}

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
    value: options.measure === 'success' ? ofSuccess(success, options) : computeScore(steps, options.measure),
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
function computeScore(
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
