import { reActAction } from '@retrace/agents';
import type { Json } from '@retrace/trajectory';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { SnapshotFields } from '../snapshot-fields.js';
import {
  hitsTarget,
  parseCountdownTask,
  taskContent,
  type CountdownLimits,
  type CountdownTask,
} from './countdown-task.js';
import { parseExpression } from './parse-expression.js';

const WORLD = 'countdown';
/** Reward for using each number once; the rest of 1 is for hitting the target. */
const NUMBERS_REWARD = 0.1;

const NO_PARTS = { names: [], values: [] };
const NUMBERS_PARTS = { names: ['numbers'], values: [NUMBERS_REWARD] };
const SOLVED_PARTS = { names: ['numbers', 'solved'], values: [NUMBERS_REWARD, 1 - NUMBERS_REWARD] };

/**
 * One turn: write an expression that uses each of the given numbers exactly once and has the target as its value.
 *
 * Scored as in RAGEN (arXiv:2504.20073): 1 for the target within 1e-5, in the parts `numbers` 0.1 and `solved` 0.9; 0.1 for the right numbers
 * and another value; 0 for other numbers. A text that is no expression is an invalid action, −0.1. Success = the target was hit.
 */
export class Countdown implements Environment {
  private current: CountdownTask | null = null;
  private over = true;

  constructor(private readonly limits: CountdownLimits) {}

  reset(options: ResetOptions): Observation {
    this.current = parseCountdownTask(options.task, this.limits);
    this.over = false;
    return observe(this.current);
  }

  step(action: string): StepResult {
    const { task } = this;
    if (this.over)
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    this.over = true;
    const expression = parseExpression(reActAction(action) ?? action);
    const usesNumbers =
      expression !== null && taskContent({ ...task, nums: expression.numbers }) === taskContent(task);
    const solved = usesNumbers && hitsTarget(expression.value, task.target);
    const parts = solved ? SOLVED_PARTS : usesNumbers ? NUMBERS_PARTS : NO_PARTS;
    const isInvalid = expression === null;
    return {
      observation: observe(task),
      reward: isInvalid ? INVALID_ACTION_REWARD : parts.values.reduce((sum, value) => sum + value, 0),
      rewardNames: isInvalid ? INVALID_ACTION_NAMES : parts.names,
      rewardValues: isInvalid ? INVALID_ACTION_VALUES : parts.values,
      terminated: true,
      truncated: false,
      parsedAction: expression?.text ?? null,
      actionValid: !isInvalid,
      success: solved,
      info: null,
    };
  }

  snapshot(): Json {
    const { task, over } = this;
    return { world: WORLD, task: { nums: [...task.nums], target: task.target }, over };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields(WORLD, snapshot);
    const over = fields.boolean('over');
    const observation = this.reset({ task: fields.task, seed: 0 });
    this.over = over;
    return observation;
  }

  close(): void {
    this.over = true;
  }

  /** The task of the running episode, for agents. @throws EnvironmentError `NOT_RESET` before the first reset */
  get task(): CountdownTask {
    if (this.current === null)
      throw new EnvironmentError('NOT_RESET', 'countdown: reset before the first step');
    return this.current;
  }
}

/** Lists no legal actions: there are too many expressions. */
function observe(task: CountdownTask): Observation {
  const { nums, target } = task;
  return {
    text: `target ${target} numbers ${nums.join(' ')}`,
    anchor: taskContent(task),
    legalActions: null,
  };
}
