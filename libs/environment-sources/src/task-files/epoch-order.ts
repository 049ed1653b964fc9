import { deriveSeed, Pcg32, shuffle } from '@retrace/random';

/** Position in a stream of tasks. */
interface Place {
  /** From 0. */
  readonly epoch: number;
  /** Row of the file, from 0. */
  readonly row: number;
}

/**
 * The order of rows over epochs: index i of the stream is a row of epoch ⌊i / numRows⌋, and each epoch has every row once, in an
 * order that follows from (seed, epoch) only. So a batch of consecutive indices may end one epoch and begin the next, and whoever
 * knows the index goes on where another stopped.
 */
export class EpochOrder {
  private readonly orders = new Map<number, Uint32Array>();

  constructor(
    private readonly numRows: number,
    private readonly options: { readonly shuffle: boolean },
  ) {}

  at(index: number, seed: number): Place {
    const epoch = Math.floor(index / this.numRows);
    const position = index % this.numRows;
    return { epoch, row: this.options.shuffle ? this.orderOf(epoch, seed)[position] : position };
  }

  /** Keeps the orders of two epochs, between which a batch can lie. */
  private orderOf(epoch: number, seed: number): Uint32Array {
    const key = seed * 2 ** 20 + epoch;
    let order = this.orders.get(key);
    if (order === undefined) {
      order = Uint32Array.from({ length: this.numRows }, (_, row) => row);
      shuffle(order, new Pcg32(deriveSeed('epoch', seed, epoch)));
      const [oldest] = this.orders.keys();
      if (this.orders.size === 2) this.orders.delete(oldest);
      this.orders.set(key, order);
    }
    return order;
  }
}
