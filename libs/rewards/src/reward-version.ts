import type { AllocationOptions } from './allocation/allocation.js';
import type { RewardComposer } from './composer.js';

/**
 * The name of a way to score: hash of the composition (components, weights, options, code versions) and of the
 * allocation. Equal versions give equal rewards for one episode; whatever changes a reward changes the version.
 *
 * @param hash a collision-resistant digest, e.g. SHA-256 in hex; given from outside, as this library imports nothing
 */
export function rewardVersion(
  composer: RewardComposer,
  allocation: AllocationOptions,
  hash: (text: string) => string,
): string {
  return hash(`${composer.describe()}\n${JSON.stringify([allocation.rule, allocation.gamma ?? 1])}`);
}
