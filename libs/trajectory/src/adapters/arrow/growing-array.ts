import type { NumberArray, TypedArrayConstructor } from './column-builder.js';

type GrowableArray = Exclude<NumberArray, BigInt64Array>;

/** A typed array that grows by doubling; what nobody wrote is 0. */
export class GrowingArray<A extends GrowableArray> {
  values: A;
  length = 0;

  constructor(
    private readonly arrayType: TypedArrayConstructor<A>,
    capacity: number,
  ) {
    this.values = new arrayType(capacity);
  }

  /** Makes room for `extra` more than `length`. */
  reserve(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.values.length) return;
    const grown = new this.arrayType(Math.max(2 * this.values.length, needed));
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
    this.extend(index + 1);
    this.values[index] = value;
  }

  /** Fills up to `length` with zeros. */
  extend(length: number): void {
    this.reserve(length - this.length);
    this.length = length;
  }

  finish(): A {
    return this.values.subarray(0, this.length) as A;
  }
}
