import { RewardError } from '../errors.js';

/**
 * How the reward of an episode is spread over its action tokens. All conserve it (Σ over tokens = R), but for the legacy
 * rule; an episode without action tokens can carry none.
 *
 * - `lastToken`: all on the last action token.
 * - `uniformPositive`: R > 0 evenly over all action tokens, R ≤ 0 on the last one.
 * - `discounted`: each step gets a share ∝ γ^(action tokens after it), spread evenly over its action tokens.
 * - `discountedLegacy`: each step gets R·γ^(action tokens after it), as OpenManus-RL has it. Does not conserve R: with
 *   R = 1 and steps of 40, 30 and 50 tokens it hands out 3.0 at γ = 1 and 2.05 at γ = .99. For parity only.
 * - `perStep`: nothing is spread; the reward of the episode as a whole goes on the last action token.
 *
 * Rewards of single steps always go on the last action token of their step.
 */
export const ALLOCATION_RULES = [
  'perStep',
  'lastToken',
  'uniformPositive',
  'discounted',
  'discountedLegacy',
] as const;
export type AllocationRule = (typeof ALLOCATION_RULES)[number];

/** The module of these rules, whose code is part of the reward version. */
export const ALLOCATION_MODULE = import.meta.url;

export interface AllocationOptions {
  readonly rule: AllocationRule;
  /** For the discounted rules, in [0, 1]; default 1. */
  readonly gamma?: number;
}

/** A batch of episodes over steps over action tokens. */
export interface AllocationInput {
  /** Episodes over steps `[E + 1]`. */
  readonly episodeSteps: Int32Array;
  /** Steps over action tokens `[K + 1]`. */
  readonly stepOffsets: Int32Array;
  /** Reward of each episode as a whole `[E]`. */
  readonly episodeRewards: Float64Array;
  /** Reward of each step `[K]`. */
  readonly stepRewards: Float64Array;
}

/**
 * Rewards of a batch at its action tokens `[N]`, float32.
 *
 * With `perStep` a step's reward stays with the step. With any other rule the step rewards of an episode join its
 * reward R before that is spread, as those rules know outcomes only. The reward of a step without action tokens goes to
 * the step before it that has some, or else to the first one that has.
 *
 * @throws RewardError `INVALID_ARGUMENT` for arrays that do not fit, rewards that are not finite (a missing reward is
 * excluded before, never passed), an unknown rule, γ outside [0, 1]
 */
export function allocateRewards(input: AllocationInput, options: AllocationOptions): Float32Array {
  const { rule, gamma = 1 } = options;
  checkAllocation(input, rule, gamma);
  const { episodeSteps, stepOffsets, episodeRewards, stepRewards } = input;
  const tokenRewards = new Float64Array(stepOffsets[stepOffsets.length - 1]);
  for (let episode = 0; episode + 1 < episodeSteps.length; episode++) {
    const firstStep = episodeSteps[episode];
    const endStep = episodeSteps[episode + 1];
    const steps: StepRange = { firstStep, endStep, start: stepOffsets[firstStep], end: stepOffsets[endStep] };
    if (steps.start === steps.end) continue;
    if (rule === 'perStep') {
      placeStepRewards(tokenRewards, steps, stepOffsets, stepRewards);
      tokenRewards[steps.end - 1] += episodeRewards[episode];
      continue;
    }
    let reward = episodeRewards[episode];
    for (let step = firstStep; step < endStep; step++) reward += stepRewards[step];
    if (rule === 'discounted' || rule === 'discountedLegacy') {
      spreadDiscounted(tokenRewards, steps, stepOffsets, { reward, gamma, conserve: rule === 'discounted' });
    } else if (rule === 'uniformPositive' && reward > 0) {
      tokenRewards.fill(reward / (steps.end - steps.start), steps.start, steps.end);
    } else {
      tokenRewards[steps.end - 1] = reward;
    }
  }
  return Float32Array.from(tokenRewards);
}

/** The steps of an episode, and the action tokens they span. */
interface StepRange {
  readonly firstStep: number;
  readonly endStep: number;
  readonly start: number;
  readonly end: number;
}

function placeStepRewards(
  tokenRewards: Float64Array,
  { firstStep, endStep, start }: StepRange,
  stepOffsets: Int32Array,
  stepRewards: Float64Array,
): void {
  let firstWithTokens = firstStep;
  while (firstWithTokens < endStep - 1 && stepOffsets[firstWithTokens + 1] === start) firstWithTokens += 1;
  for (let step = firstStep; step < endStep; step++) {
    // The end of a step without tokens is the end of the last one before it that has some.
    const last = Math.max(stepOffsets[step + 1], stepOffsets[firstWithTokens + 1]) - 1;
    tokenRewards[last] += stepRewards[step];
  }
}

function spreadDiscounted(
  tokenRewards: Float64Array,
  { firstStep, endStep, end }: StepRange,
  stepOffsets: Int32Array,
  {
    reward,
    gamma,
    conserve,
  }: { readonly reward: number; readonly gamma: number; readonly conserve: boolean },
): void {
  // γ⁰ = 1 also for γ = 0, so the last step that has tokens always has a share.
  const shareOf = (step: number): number =>
    stepOffsets[step + 1] === stepOffsets[step] ? 0 : gamma ** (end - stepOffsets[step + 1]);
  let total = 1;
  if (conserve) {
    total = 0;
    for (let step = firstStep; step < endStep; step++) total += shareOf(step);
  }
  for (let step = firstStep; step < endStep; step++) {
    const numTokens = stepOffsets[step + 1] - stepOffsets[step];
    if (numTokens > 0) {
      tokenRewards.fill(
        (reward * shareOf(step)) / (total * numTokens),
        stepOffsets[step],
        stepOffsets[step + 1],
      );
    }
  }
}

function checkAllocation(input: AllocationInput, rule: AllocationRule, gamma: number): void {
  const { episodeSteps, stepOffsets, episodeRewards, stepRewards } = input;
  if (!ALLOCATION_RULES.includes(rule)) {
    refuse(`rule is '${rule}', must be one of ${ALLOCATION_RULES.join(', ')}`);
  }
  if (!(gamma >= 0 && gamma <= 1)) refuse(`gamma is ${gamma}, must be in [0, 1]`);
  checkOffsets('episodeSteps', episodeSteps);
  checkOffsets('stepOffsets', stepOffsets);
  const numSteps = episodeSteps[episodeSteps.length - 1];
  if (stepOffsets.length !== numSteps + 1) {
    refuse(`stepOffsets has ${stepOffsets.length} entries, must have ${numSteps + 1}, one more than steps`);
  }
  checkRewards('episodeRewards', episodeRewards, episodeSteps.length - 1);
  checkRewards('stepRewards', stepRewards, numSteps);
}

function checkOffsets(name: string, offsets: Int32Array): void {
  if (offsets.length === 0 || offsets[0] !== 0) refuse(`${name} must start with 0`);
  for (let i = 1; i < offsets.length; i++) {
    if (offsets[i] < offsets[i - 1]) {
      refuse(`${name}[${i}] is ${offsets[i]}, must not be less than the ${offsets[i - 1]} before it`);
    }
  }
}

function checkRewards(name: string, rewards: Float64Array, length: number): void {
  if (rewards.length !== length) refuse(`${name} has ${rewards.length} entries, must have ${length}`);
  const bad = rewards.findIndex((reward) => !Number.isFinite(reward));
  if (bad !== -1) refuse(`${name}[${bad}] is ${rewards[bad]}, must be finite`);
}

function refuse(message: string): never {
  throw new RewardError('INVALID_ARGUMENT', message);
}
