import type { Json } from '@retrace/trajectory';
import { EnvironmentError } from '../errors.js';

/** Most numbers of a task: the expert tries all expressions. */
export const MAX_NUMBERS = 5;
/** Distance from the target within which a value counts as equal, as in RAGEN. */
const TOLERANCE = 1e-5;

export interface CountdownTask {
  readonly nums: readonly number[];
  readonly target: number;
}

/** Largest numbers that an environment has words for. */
export interface CountdownLimits {
  readonly maxNumber: number;
  readonly maxTarget: number;
}

export function hitsTarget(value: number, target: number): boolean {
  return Math.abs(value - target) < TOLERANCE;
}

/**
 * The task independent of the order of its numbers.
 *
 * @returns for example `24:2,3,4`
 */
export function taskContent({ nums, target }: CountdownTask): string {
  return `${target}:${[...nums].sort((a, b) => a - b).join(',')}`;
}

/**
 * Reads the task `{ nums: [3, 4, 2], target: 14 }`. Whether an expression reaches the target is not asked.
 *
 * @throws EnvironmentError `INVALID_TASK` unless nums are 2 to `MAX_NUMBERS` integers from 1 to maxNumber and target is one from 1 to
 * maxTarget
 */
export function parseCountdownTask(task: Json, { maxNumber, maxTarget }: CountdownLimits): CountdownTask {
  const fields = (typeof task === 'object' ? task : null) as Partial<Record<string, Json>> | null;
  const { nums, target } = fields ?? {};
  const isWithin = (value: unknown, most: number): boolean =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
  const areNumbers =
    Array.isArray(nums) &&
    nums.length >= 2 &&
    nums.length <= MAX_NUMBERS &&
    nums.every((value) => isWithin(value, maxNumber));
  if (!areNumbers) {
    throw new EnvironmentError(
      'INVALID_TASK',
      `task.nums is ${JSON.stringify(nums)}, must be 2 to ${MAX_NUMBERS} integers from 1 to ${maxNumber}`,
    );
  }
  if (!isWithin(target, maxTarget)) {
    throw new EnvironmentError(
      'INVALID_TASK',
      `task.target is ${JSON.stringify(target)}, must be an integer from 1 to ${maxTarget}`,
    );
  }
  return { nums: nums as readonly number[], target: target as number };
}
