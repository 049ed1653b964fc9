import type { Json } from '@retrace/trajectory';
import { EnvironmentError } from '../errors.js';

/** Names that only arms with the high average have. */
export const HIGH_ARM_NAMES: readonly string[] = [
  'dragon', 'tiger', 'comet', 'rocket', 'volcano', 'pirate', 'gambler', 'storm',
]; // oxfmt-ignore

/** Names that only arms with the low average have. */
export const LOW_ARM_NAMES: readonly string[] = [
  'phoenix', 'turtle', 'librarian', 'harbor', 'garden', 'monk', 'banker', 'snow',
]; // oxfmt-ignore

export const ARM_NAMES: readonly string[] = [...HIGH_ARM_NAMES, ...LOW_ARM_NAMES];

export function isHighArm(name: string): boolean {
  return HIGH_ARM_NAMES.includes(name);
}

/**
 * Reads the two arms from the task `{ arms: [first, second] }`.
 *
 * @throws EnvironmentError `INVALID_TASK` unless one is a high and the other a low arm
 */
export function parseBanditTask(task: Json): readonly string[] {
  const arms = task !== null && typeof task === 'object' && 'arms' in task ? task.arms : undefined;
  const named =
    Array.isArray(arms) && arms.length === 2 && arms.every((arm) => ARM_NAMES.includes(arm as string));
  if (!named || isHighArm(arms[0] as string) === isHighArm(arms[1] as string)) {
    throw new EnvironmentError(
      'INVALID_TASK',
      `task.arms is ${JSON.stringify(arms)}, must be one of ${HIGH_ARM_NAMES.join(', ')} and one of ${LOW_ARM_NAMES.join(', ')}, in any order`,
    );
  }
  return arms as readonly string[];
}
