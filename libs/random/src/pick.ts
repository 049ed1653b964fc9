import { RandomError } from './random-error.js';

/**
 * A uniformly random element, by one draw of `random` in [0, 1).
 *
 * @throws RandomError when there is nothing to pick from
 */
export function pick<T>(choices: readonly T[], random: () => number): T {
  if (choices.length === 0) throw new RandomError('nothing to pick from: choices is empty');
  return choices[Math.floor(random() * choices.length)];
}
