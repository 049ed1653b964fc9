import { ALLOCATION_MODULE, type AllocationOptions } from './allocation/allocation.js';
import type { RewardComposer } from './composer.js';

/** Functions that a version needs from its caller, as this library reads no files. */
export interface VersionInputs {
  /** A collision-resistant digest, e.g. SHA-256 in hex. */
  readonly hash: (text: string) => string;
  /** Identity of the code of a module and of everything that it imports, independent of its location. */
  readonly codeOf: (module: string) => string;
  /** URLs of further modules that affect scores, such as those that build episodes from the store. */
  readonly modules?: readonly string[];
}

/**
 * The name of a way to score: hash of the composition (components, weights, sources, options), of the allocation, and of
 * the code of both and of what feeds them. Equal versions give equal rewards for one episode; whatever changes a reward changes the version.
 */
export function rewardVersion(
  composer: RewardComposer,
  allocation: AllocationOptions,
  { hash, codeOf, modules = [] }: VersionInputs,
): string {
  const code = [...composer.modules, ALLOCATION_MODULE, ...modules].map(codeOf);
  return hash(
    `${composer.describe()}\n${JSON.stringify([allocation.rule, allocation.gamma ?? 1])}\n${code.join('\n')}`,
  );
}
