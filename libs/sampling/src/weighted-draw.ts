import { checkCount } from './sampling-error.js';
import type { SumTree } from './sum-tree.js';

export interface WeightedDraw {
  /** The items in the order drawn `[K]`; each once. */
  readonly items: Int32Array;
  /** Probability of each at the first draw, wᵢ/Σw `[K]`. */
  readonly probabilities: Float64Array;
}

/**
 * Draws up to `count` distinct items, one after the other, each by its weight among those that are left (successive sampling). Fewer where
 * fewer items have a weight. The tree is as before when this returns.
 *
 * @param nextFloat uniform in [0, 1)
 * @throws SamplingError `INVALID_ARGUMENT` for a count that is not a whole number ≥ 0
 */
export function drawByWeight(tree: SumTree, count: number, nextFloat: () => number): WeightedDraw {
  checkCount('count', count);
  const numDrawn = Math.min(count, tree.numPositive);
  const items = new Int32Array(numDrawn);
  const weights = new Float64Array(numDrawn);
  const { total } = tree;
  for (let k = 0; k < numDrawn; k++) {
    const item = tree.find(nextFloat() * tree.total);
    items[k] = item;
    weights[k] = tree.get(item);
    tree.set(item, 0);
  }
  items.forEach((item, k) => {
    tree.set(item, weights[k]);
  });
  return { items, probabilities: weights.map((weight) => weight / total) };
}
