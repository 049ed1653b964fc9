import type { StepRecorded } from '../events/episode-events.js';

/** The fields that decide whether a policy gradient may train on a step. */
export type TrainableFields = Pick<StepRecorded, 'actionMask' | 'tokenLogprobs' | 'sampling' | 'logprobMode'>;

/**
 * Returns why no policy gradient may train on a step, or `''` when one may. The first that applies:
 *
 * - no token has `actionMask` 1;
 * - an action token has no logprob (NaN);
 * - `sampling` is null;
 * - `topK` > 0 or `topP` < 1: the logprobs are of a distribution that the trainer can't evaluate;
 * - `logprobMode` is `raw` at a temperature other than 1: the logprobs are not of the distribution that was sampled from.
 */
export function findUntrainableReason({
  actionMask,
  tokenLogprobs,
  sampling,
  logprobMode,
}: TrainableFields): string {
  const firstAction = actionMask.indexOf(1);
  if (firstAction < 0) return 'no token ids';
  for (let t = firstAction; t < actionMask.length; t++) {
    if (actionMask[t] === 1 && Number.isNaN(tokenLogprobs[t])) return 'no behavior logprobs';
  }
  if (sampling === null) return 'sampling parameters unknown';
  if (sampling.topK > 0 || sampling.topP < 1) return 'sampled with top-k or top-p';
  if (logprobMode === 'raw' && sampling.temperature !== 1) return 'logprobs before temperature';
  return '';
}
