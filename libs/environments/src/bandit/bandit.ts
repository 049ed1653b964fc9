import type { Json } from '@retrace/trajectory';
import { deriveSeed, MAX_UINT32, Pcg32 } from '@retrace/random';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { oneWordParser } from '../parse/one-word.js';
import { SnapshotFields } from '../snapshot-fields.js';
import { ARM_NAMES, isHighArm, parseBanditTask } from './arms.js';

const WORLD = 'bandit';
const LOW_PAYOUT = 0.1;
const HIGH_PAYOUT = 1;
const HIGH_PAYOUT_PROBABILITY = 0.25;

const parseArm = oneWordParser(ARM_NAMES);
const PAYOUT_NAMES: readonly string[] = ['payout'];

/**
 * Two named arms, one choice (RAGEN, arXiv:2504.20073). The low arm always pays 0.1; the high arm pays 1 in a
 * quarter of the cases and else nothing, 0.25 on average. The name of an arm tells which one it is, and
 * success is to have chosen the high one, even when it paid nothing.
 */
export class Bandit implements Environment {
  private readonly random = new Pcg32(0);
  private parsedArms: readonly string[] | null = null;
  private over = true;

  reset(options: ResetOptions): Observation {
    this.parsedArms = parseBanditTask(options.task);
    this.random.seed(deriveSeed('bandit payout', options.seed, options.member ?? 0));
    this.over = false;
    return this.observe();
  }

  step(action: string): StepResult {
    const arms = this.arms;
    if (this.over)
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    this.over = true;
    const { parsedAction } = parseArm(action);
    const actionValid = parsedAction !== null && arms.includes(parsedAction);
    const high = parsedAction !== null && isHighArm(parsedAction);
    const payout = high ? this.drawHighPayout() : LOW_PAYOUT;
    return {
      observation: this.observe(),
      reward: actionValid ? payout : INVALID_ACTION_REWARD,
      rewardNames: actionValid ? PAYOUT_NAMES : INVALID_ACTION_NAMES,
      rewardValues: actionValid ? [payout] : INVALID_ACTION_VALUES,
      terminated: true,
      truncated: false,
      parsedAction,
      actionValid,
      success: actionValid && high,
      info: null,
    };
  }

  snapshot(): Json {
    return { world: WORLD, task: { arms: this.arms }, random: this.random.state, over: this.over };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields(WORLD, snapshot);
    const random = fields.integers('random', 0, MAX_UINT32, 4);
    const over = fields.boolean('over');
    this.reset({ task: fields.task, seed: 0 });
    this.random.restore(random);
    this.over = over;
    return this.observe();
  }

  reseed(seed: number): void {
    if (this.arms.length > 0) this.random.seed(deriveSeed('bandit payout', seed));
  }

  close(): void {
    this.over = true;
  }

  /** The two arms on offer, in the order shown. @throws EnvironmentError `NOT_RESET` before the first reset */
  get arms(): readonly string[] {
    if (this.parsedArms === null)
      throw new EnvironmentError('NOT_RESET', 'bandit: reset before the first step');
    return this.parsedArms;
  }

  private drawHighPayout(): number {
    return this.random.nextFloat() < HIGH_PAYOUT_PROBABILITY ? HIGH_PAYOUT : 0;
  }

  private observe(): Observation {
    const [first, second] = this.arms;
    return { text: `choose ${first} or ${second}`, anchor: `${first}|${second}`, legalActions: this.arms };
  }
}
