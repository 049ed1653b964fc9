import { checkCount } from './sampling-error.js';
import type { SumTree } from './sum-tree.js';

/** Less than the steps of the generators that are used, of 2⁻³². */
const LEAST_UNIFORM = 2 ** -40;

export interface WeightedDraw {
  /** The items in the order drawn `[K]`; each once. */
  readonly items: Int32Array;
  /** Weight of each `[K]`. */
  readonly weights: Float64Array;
  /** When each was drawn `[K]`, ascending, if an item of weight w waits for an exponential time of mean 1/w. */
  readonly times: Float64Array;
  /** When the next one would have been drawn; Infinity where none with a weight is left. */
  readonly nextTime: number;
}

/**
 * Draws up to `count` distinct items, one after the other, each by its weight among those that are left (successive sampling). Fewer where
 * fewer items have a weight. The tree is as before when this returns.
 *
 * The same items come of waiting times: each item waits for an exponential time of mean 1/w, and the first `count` are drawn. Given the time at which
 * the next one would have come, each was drawn independently with probability 1 − exp(−w·time), so these times give importance weights
 * (`inclusionProbabilities`).
 *
 * @param nextFloat uniform in [0, 1)
 * @param startTime when the last item of an earlier draw was drawn that this one continues, with its items out of the tree
 * @throws SamplingError `INVALID_ARGUMENT` for a count that is not a whole number ≥ 0
 */
export function drawByWeight(
  tree: SumTree,
  count: number,
  nextFloat: () => number,
  startTime = 0,
): WeightedDraw {
  checkCount('count', count);
  const numDrawn = Math.min(count, tree.numPositive);
  const items = new Int32Array(numDrawn);
  const weights = new Float64Array(numDrawn);
  /** Weight that was left before each draw, and after the last. */
  const left = new Float64Array(numDrawn + 1);
  for (let k = 0; k < numDrawn; k++) {
    left[k] = tree.total;
    const item = tree.find(nextFloat() * left[k]);
    items[k] = item;
    weights[k] = tree.get(item);
    tree.set(item, 0);
  }
  const isExhausted = tree.numPositive === 0;
  left[numDrawn] = tree.total;
  items.forEach((item, k) => {
    tree.set(item, weights[k]);
  });
  let time = startTime;
  const times = left.map((weight) => (time += exponential(nextFloat()) / weight));
  return {
    items,
    weights,
    times: times.subarray(0, numDrawn),
    nextTime: isExhausted ? Infinity : times[numDrawn],
  };
}

/** An exponential time of mean 1 from a uniform number; above 0, whatever the steps in which a generator counts. */
function exponential(uniform: number): number {
  return -Math.log1p(-Math.max(uniform, LEAST_UNIFORM));
}

/**
 * Probability of each drawn item to be among those that were drawn, 1 − exp(−w·t), given the time t at which the next one would have been. Sums over the
 * drawn items, each divided by its probability, have the sums over all items as their mean (rank conditioning: Cohen and Kaplan 2007, "Summarizing data using
 * bottom-k sketches", section 4).
 *
 * @param weights of drawn items `[K]`
 * @param nextTime of the draw, or of the last of draws that continue each other; Infinity where all items were drawn
 * @returns `[K]`, in (0, 1]
 */
export function inclusionProbabilities(weights: Float64Array, nextTime: number): Float64Array {
  return weights.map((weight) => -Math.expm1(-weight * nextTime));
}
