import { EnvironmentError } from '../errors.js';

/**
 * A uniformly random element, by one draw of `random` in [0, 1).
 *
 * @throws EnvironmentError `INVALID_ARGUMENT` when there is nothing to pick from
 */
export function pick<T>(choices: readonly T[], random: () => number): T {
  if (choices.length === 0)
    throw new EnvironmentError('INVALID_ARGUMENT', 'nothing to pick from: choices is empty');
  return choices[Math.floor(random() * choices.length)];
}
