import type { LoggedEpisodes } from '../evaluation/logged-episodes.js';
import type { QTransitions } from '../evaluation/linear-q.js';

/*
 * A small decision problem whose true values are known by summing over all of its histories: three decisions, two states,
 * two actions. Action 1 leads to state 1 with .8, action 0 with .2; in state 1 an action pays 1 with .7, in state 0 with .3,
 * and action 1 costs .2. For tests of estimators.
 */

const HORIZON = 3;
const NUM_FEATURES = HORIZON * 2 * 2;

/** Probability of action 1 in each state. */
export type TabularPolicy = readonly [number, number];

export interface LoggedTabular {
  readonly episodes: LoggedEpisodes;
  readonly transitions: QTransitions;
}

const toStateOne = (action: number): number => (action === 1 ? 0.8 : 0.2);
const payProbability = (state: number): number => (state === 1 ? 0.7 : 0.3);
const probabilityOf = (policy: TabularPolicy, state: number, action: number): number =>
  action === 1 ? policy[state] : 1 - policy[state];

/** The true value of a policy, by backward induction. */
export function trueValue(policy: TabularPolicy, gamma: number): number {
  const valueFrom = (state: number, step: number): number => {
    if (step === HORIZON) return 0;
    return [0, 1].reduce((sum, action) => {
      const next = toStateOne(action);
      const future = next * valueFrom(1, step + 1) + (1 - next) * valueFrom(0, step + 1);
      const reward = payProbability(state) - 0.2 * action;
      return sum + probabilityOf(policy, state, action) * (reward + gamma * future);
    }, 0);
  };
  return valueFrom(0, 0);
}

export interface TabularPolicies {
  readonly behavior: TabularPolicy;
  readonly candidate: TabularPolicy;
  /** Episodes a group (default 1). */
  readonly groupSize?: number;
  /** All first rewards of a group are higher by one draw from ±this (default 0), which leaves the true value as it is. */
  readonly groupEffect?: number;
}

/** Episodes of `behavior`, with the logprobs and the features that an evaluation of `candidate` needs. */
export function sampleTabular(
  numEpisodes: number,
  { behavior, candidate, groupSize = 1, groupEffect = 0 }: TabularPolicies,
  random: () => number,
): LoggedTabular {
  const numDecisions = numEpisodes * HORIZON;
  const rewards = new Float32Array(numDecisions);
  const candidateLogprobs = new Float32Array(numDecisions);
  const behaviorLogprobs = new Float32Array(numDecisions);
  const features = new Float32Array(numDecisions * NUM_FEATURES);
  const expectedFeatures = new Float32Array(numDecisions * NUM_FEATURES);
  let effect = 0;
  for (let e = 0; e < numEpisodes; e++) {
    if (groupEffect !== 0 && e % groupSize === 0) effect = random() < 0.5 ? groupEffect : -groupEffect;
    let state = 0;
    for (let step = 0; step < HORIZON; step++) {
      const t = e * HORIZON + step;
      const action = Number(random() < behavior[state]);
      rewards[t] = Number(random() < payProbability(state)) - 0.2 * action + (step === 0 ? effect : 0);
      candidateLogprobs[t] = Math.log(probabilityOf(candidate, state, action));
      behaviorLogprobs[t] = Math.log(probabilityOf(behavior, state, action));
      const cell = t * NUM_FEATURES + (step * 2 + state) * 2;
      features[cell + action] = 1;
      for (const other of [0, 1]) expectedFeatures[cell + other] = probabilityOf(candidate, state, other);
      state = Number(random() < toStateOne(action));
    }
  }
  const offsets = Int32Array.from({ length: numEpisodes + 1 }, (_, e) => e * HORIZON);
  const groupIds = Int32Array.from({ length: numEpisodes }, (_, e) => Math.floor(e / groupSize));
  return {
    episodes: { offsets, rewards, groupIds, candidateLogprobs, behaviorLogprobs },
    transitions: { offsets, rewards, groupIds, features, expectedFeatures, numFeatures: NUM_FEATURES },
  };
}
