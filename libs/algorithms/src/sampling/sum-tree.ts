import { checkCount, checkNonNegative, SamplingError } from './sampling-error.js';

/**
 * The weights of `size` items and their sums, as a complete binary tree in one array: 16 to 32 bytes an item. Setting a weight and finding
 * an item take log₂(size) steps. Each node is the sum of its two children as they are, so no rounding error grows with the number of
 * changes.
 */
export class SumTree {
  /** Node 1 is the root, the children of node n are 2n and 2n + 1, and the leaves begin at `numLeaves`. */
  private readonly sums: Float64Array;
  private readonly numLeaves: number;
  private positive = 0;

  /**
   * @param weights of items 0, 1, 2 … `[size]`, finite and ≥ 0
   * @throws SamplingError `INVALID_ARGUMENT` naming the item and its weight
   */
  constructor(weights: ArrayLike<number>) {
    this.size = weights.length;
    this.numLeaves = 2 ** Math.ceil(Math.log2(Math.max(1, weights.length)));
    this.sums = new Float64Array(2 * this.numLeaves);
    for (let item = 0; item < weights.length; item++) {
      checkNonNegative(`weights[${item}]`, weights[item]);
      this.sums[this.numLeaves + item] = weights[item];
      if (weights[item] > 0) this.positive += 1;
    }
    for (let node = this.numLeaves - 1; node > 0; node--)
      this.sums[node] = this.sums[2 * node] + this.sums[2 * node + 1];
  }

  readonly size: number;

  /** Sum of all weights. */
  get total(): number {
    return this.sums[1];
  }

  /** Items with a weight above 0. */
  get numPositive(): number {
    return this.positive;
  }

  /** @throws SamplingError `INVALID_ARGUMENT` for an item outside the tree */
  get(item: number): number {
    this.checkItem(item);
    return this.sums[this.numLeaves + item];
  }

  /** @throws SamplingError `INVALID_ARGUMENT` for an item outside the tree, or a weight that is not finite and ≥ 0 */
  set(item: number, weight: number): void {
    this.checkItem(item);
    checkNonNegative(`the weight of item ${item}`, weight);
    const { sums } = this;
    let node = this.numLeaves + item;
    this.positive += Number(weight > 0) - Number(sums[node] > 0);
    sums[node] = weight;
    for (node >>= 1; node > 0; node >>= 1) sums[node] = sums[2 * node] + sums[2 * node + 1];
  }

  /**
   * Returns the item at a point of the weights laid end to end: item i covers [w₀ + … + wᵢ₋₁, w₀ + … + wᵢ).
   *
   * @param point in [0, total)
   * @throws SamplingError `INVALID_ARGUMENT` when no item has a weight
   */
  find(point: number): number {
    const { sums } = this;
    if (!(this.total > 0)) throw new SamplingError('INVALID_ARGUMENT', 'no item has a weight above 0');
    let node = 1;
    let rest = point;
    while (node < this.numLeaves) {
      const left = 2 * node;
      // Rounding can put a point behind the last weight; an item without weight is never returned.
      if (rest < sums[left] || sums[left + 1] === 0) node = left;
      else {
        rest -= sums[left];
        node = left + 1;
      }
    }
    return node - this.numLeaves;
  }

  private checkItem(item: number): void {
    checkCount('item', item);
    if (item < this.size) return;
    throw new SamplingError('INVALID_ARGUMENT', `item is ${item}, must be below the size, ${this.size}`);
  }
}
