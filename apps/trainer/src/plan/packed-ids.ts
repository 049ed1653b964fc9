import { isUuid, uuidFromBytes, uuidToBytes } from '@retrace/trajectory';

const UUID_BYTES = 16;

/** Ids by row, 16 bytes each where they are UUIDs: a text of that length takes four times as much. */
export class PackedIds {
  private readonly bytes: Uint8Array;
  /** Ids that are no UUIDs. */
  private readonly others = new Map<number, string>();

  constructor(ids: readonly string[]) {
    this.bytes = new Uint8Array(UUID_BYTES * ids.length);
    ids.forEach((id, row) => {
      if (isUuid(id)) this.bytes.set(uuidToBytes(id), UUID_BYTES * row);
      else this.others.set(row, id);
    });
  }

  get(row: number): string {
    return (
      this.others.get(row) ?? uuidFromBytes(this.bytes.subarray(UUID_BYTES * row, UUID_BYTES * (row + 1)))
    );
  }
}
