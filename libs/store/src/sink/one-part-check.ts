import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { readPartsOfRange } from '../position/store-position.js';
import type { StreamPartition } from '../rows/stream-partition.js';

/** Offsets from `first` to `last`, and how many rows an insert wrote for them. */
export interface InsertedRange {
  readonly first: number;
  readonly last: number;
  readonly numRows: number;
}

/**
 * Checks that an insert became one part: for the first insert, and again for one that is twice as large as any checked before. That is
 * a few queries in the life of a sink, each limited by the index on offsets.
 */
export class OnePartCheck {
  /** Rows of the largest insert that was seen to become one part. */
  private numRowsChecked = 0;

  constructor(
    private readonly client: StoreClient,
    private readonly position: StreamPartition,
  ) {}

  /** @throws StoreError `INSERT_NOT_ATOMIC` */
  async afterInsert({ first, last, numRows }: InsertedRange): Promise<void> {
    if (numRows < 2 * this.numRowsChecked || numRows < 2) return;
    const found = await readPartsOfRange(this.client, this.position, { first, last });
    // More rows than were inserted: another sink inserted some of them too, and its parts are counted with ours.
    if (found.numRows === numRows && found.numParts > 1) {
      const { stream, partition } = this.position;
      const where = `offsets ${first} to ${last} of partition ${partition} of stream ${stream}`;
      throw new StoreError(
        'INSERT_NOT_ATOMIC',
        `One insert of ${where} became ${found.numParts} parts; must become one; check the insert block sizes in the settings of the store`,
      );
    }
    this.numRowsChecked = numRows;
  }
}
