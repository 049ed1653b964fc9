import { checkCount, SamplingError } from './sampling-error.js';

export interface SuccessCurriculum {
  /** Success rate of the tasks to favor, in [0, 1]. */
  readonly targetSuccess: number;
  /** Weight of the tasks furthest from it, in (0, 1]: none is given up for good. */
  readonly leastWeight: number;
}

/**
 * Weight of the groups of a task by the success rate of its episodes so far: 1 at the target, and from there linearly down to `leastWeight`
 * at the end of [0, 1] that is further away. A task without an episode of known success has weight 1, so that it is tried.
 *
 * @throws SamplingError `INVALID_ARGUMENT`
 */
export function curriculumWeight(
  { numSuccesses, numEpisodes }: { readonly numSuccesses: number; readonly numEpisodes: number },
  { targetSuccess, leastWeight }: SuccessCurriculum,
): number {
  checkCount('numEpisodes', numEpisodes);
  checkCount('numSuccesses', numSuccesses);
  if (numSuccesses > numEpisodes)
    throw new SamplingError(
      'INVALID_ARGUMENT',
      `numSuccesses is ${numSuccesses}, must be at most numEpisodes, ${numEpisodes}`,
    );
  if (numEpisodes === 0) return 1;
  const distance = Math.abs(numSuccesses / numEpisodes - targetSuccess);
  const furthest = Math.max(targetSuccess, 1 - targetSuccess);
  return 1 - (1 - leastWeight) * (distance / furthest);
}
