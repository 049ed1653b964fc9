import type { Json } from '@retrace/trajectory';
import { deriveSeed, MAX_UINT32, Pcg32 } from '@retrace/random';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { oneWordParser } from '../parse/one-word.js';
import { SnapshotFields } from '../snapshot-fields.js';

export const PULL_ARMS = ['alpha', 'beta'] as const;
export type PullArm = (typeof PULL_ARMS)[number];

export const NUM_PULLS = 8;

/** Chance that a pull of the better arm pays; the other arm pays with the rest of the chance. */
const BETTER_ARM_PROBABILITY = 0.9;

export const MEMORY_BANDIT_WORDS: readonly string[] = [...PULL_ARMS, 'start', 'paid', 'empty', 'invalid'];

const WORLD = 'memory-bandit';
const parseArm = oneWordParser(PULL_ARMS);
const PULL_NAMES: readonly string[] = ['pull'];
const PAID_VALUES: readonly number[] = [1 / NUM_PULLS];
const EMPTY_VALUES: readonly number[] = [0];

/**
 * Two arms, eight pulls; one arm pays in 90 % of its pulls, the other in 10 %, and which is which is drawn per
 * episode. Observations tell only the outcome of the last pull, so the agent has to remember.
 *
 * Every pull that pays is worth 1/8: the return of an episode is the share of pulls that paid. Success is a
 * random lottery incentive: one pull, drawn by the seed, is the one that counts, and success is that it paid. So
 * the success rate estimates the same expectation as the return.
 */
export class MemoryBandit implements Environment {
  private readonly random = new Pcg32(0);
  private betterArm: PullArm | null = null;
  private numPulls = 0;
  private countingPull = 0;
  private countingPullPaid = false;
  private outcome = 'start';

  reset(options: ResetOptions): Observation {
    this.betterArm = parseMemoryBanditTask(options.task);
    this.random.seed(deriveSeed('memory-bandit payouts', options.seed, options.member ?? 0));
    this.numPulls = 0;
    this.countingPull = this.random.nextBelow(NUM_PULLS);
    this.countingPullPaid = false;
    this.outcome = 'start';
    return observe(this.outcome);
  }

  step(action: string): StepResult {
    if (this.betterArm === null)
      throw new EnvironmentError('NOT_RESET', 'memory bandit: reset before the first step');
    if (this.numPulls >= NUM_PULLS) {
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    }
    const { parsedAction, actionValid } = parseArm(action);
    // One draw a pull whatever was pulled, so the luck of a pull does not depend on the ones before it.
    const luck = this.random.nextFloat();
    const probability = parsedAction === this.betterArm ? BETTER_ARM_PROBABILITY : 1 - BETTER_ARM_PROBABILITY;
    const paid = actionValid && luck < probability;
    if (this.numPulls === this.countingPull) this.countingPullPaid = paid;
    this.numPulls += 1;
    const terminated = this.numPulls >= NUM_PULLS;
    const values = paid ? PAID_VALUES : EMPTY_VALUES;
    this.outcome = actionValid ? (paid ? 'paid' : 'empty') : 'invalid';
    return {
      observation: observe(this.outcome),
      reward: actionValid ? values[0] : INVALID_ACTION_REWARD,
      rewardNames: actionValid ? PULL_NAMES : INVALID_ACTION_NAMES,
      rewardValues: actionValid ? values : INVALID_ACTION_VALUES,
      terminated,
      truncated: false,
      parsedAction,
      actionValid,
      success: terminated ? this.countingPullPaid : null,
      info: null,
    };
  }

  snapshot(): Json {
    if (this.betterArm === null)
      throw new EnvironmentError('NOT_RESET', 'memory bandit: nothing to snapshot');
    const { numPulls, countingPull, countingPullPaid, outcome } = this;
    const task = { betterArm: this.betterArm };
    return {
      world: WORLD,
      task,
      random: this.random.state,
      numPulls,
      countingPull,
      countingPullPaid,
      outcome,
    };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields(WORLD, snapshot);
    const state = {
      numPulls: fields.integer('numPulls', 0, NUM_PULLS),
      countingPull: fields.integer('countingPull', 0, NUM_PULLS - 1),
      countingPullPaid: fields.boolean('countingPullPaid'),
      outcome: fields.text('outcome'),
    };
    if (!MEMORY_BANDIT_WORDS.includes(state.outcome)) throw fields.fault('outcome', 'be one of its words');
    const random = fields.integers('random', 0, MAX_UINT32, 4);
    this.betterArm = parseMemoryBanditTask(fields.task);
    this.random.restore(random);
    Object.assign(this, state);
    return observe(this.outcome);
  }

  /** Which pull counts for success was drawn at the reset, and stays. */
  reseed(seed: number): void {
    if (this.betterArm === null) throw new EnvironmentError('NOT_RESET', 'memory bandit: nothing to reseed');
    this.random.seed(deriveSeed('memory-bandit payouts', seed));
  }

  close(): void {
    this.numPulls = NUM_PULLS;
  }
}

/** Has no anchor: the relevant state is hidden, so no two steps are known to share it. */
function observe(text: string): Observation {
  return { text, anchor: null, legalActions: PULL_ARMS };
}

/** @throws EnvironmentError `INVALID_TASK` unless the task is `{ betterArm: 'alpha' | 'beta' }` */
function parseMemoryBanditTask(task: Json): PullArm {
  const arm = task !== null && typeof task === 'object' && 'betterArm' in task ? task.betterArm : undefined;
  if (PULL_ARMS.includes(arm as PullArm)) return arm as PullArm;
  throw new EnvironmentError(
    'INVALID_TASK',
    `task.betterArm is ${JSON.stringify(arm)}, must be one of ${PULL_ARMS.join(', ')}`,
  );
}
