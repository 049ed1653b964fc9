import { resamplingWeights, type ResamplingOptions } from '@retrace/algorithms';
import { Pcg32 } from '@retrace/random';
import type { ScoredRewards } from './score-rewards.js';

/** Separates these draws from the stream that shuffles advantages. */
const STREAM = 2;

/**
 * [E] How often each episode is trained: as many episodes as there are to train are drawn from them with replacement, by their
 * returns and the seed.
 */
export function resampleEpisodes(
  { totals, episodesToTrain }: Pick<ScoredRewards, 'totals' | 'episodesToTrain'>,
  options: ResamplingOptions,
  seed: number,
): Int32Array {
  const episodes = Int32Array.from(episodesToTrain.keys()).filter((e) => episodesToTrain[e] === 1);
  const weights = resamplingWeights(
    Float64Array.from(episodes, (e) => totals[e]),
    options,
  );
  const ends = weights.slice();
  for (let i = 1; i < ends.length; i++) ends[i] += ends[i - 1];
  const random = new Pcg32(seed, STREAM);
  const copies = new Int32Array(totals.length);
  episodes.forEach(() => {
    const at = random.nextFloat() * ends[ends.length - 1];
    copies[episodes[ends.findIndex((end) => at < end)]] += 1;
  });
  return copies;
}
