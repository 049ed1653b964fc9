import type { NumberArray, TypedArrayConstructor } from './number-array.js';

type GrowableArray = Exclude<NumberArray, BigInt64Array>;

/** A typed array that grows by doubling and keeps its memory when it is emptied. Items that were not written are 0. */
export class GrowingArray<A extends GrowableArray> {
  values: A;
  length = 0;

  /** @param capacity items that are allocated at the first one; none before */
  constructor(
    private readonly arrayType: TypedArrayConstructor<A>,
    private readonly capacity: number,
  ) {
    this.values = new arrayType(0);
  }

  /** Makes room for `extra` more than `length`. */
  reserve(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.values.length) return;
    const grown = new this.arrayType(Math.max(2 * this.values.length, needed, this.capacity));
    grown.set(this.values.subarray(0, this.length));
    this.values = grown;
  }

  append(part: ArrayLike<number>): void {
    this.reserve(part.length);
    this.values.set(part, this.length);
    this.length += part.length;
  }

  /** Item `index`, which is not before the last one set. */
  set(index: number, value: number): void {
    if (index === this.length && index < this.values.length) this.length++;
    else this.extend(index + 1);
    this.values[index] = value;
  }

  /** Fills up to `length` with zeros. */
  extend(length: number): void {
    if (length <= this.length) return;
    this.reserve(length - this.length);
    // After `clear` the memory still holds the earlier items.
    this.values.fill(0, this.length, length);
    this.length = length;
  }

  clear(): void {
    this.length = 0;
  }

  /** Returns a view of the items, valid until the next change. */
  finish(): A {
    return this.values.subarray(0, this.length) as A;
  }
}
