import { FormatFault } from './check-flatbuffer.js';

/** List items that a byte holds: 8 booleans. */
const ITEMS_PER_BYTE = 8;

/** List items that a small body may come to, whose dictionary names a list once for many rows. */
const MIN_ITEMS = 1024 * 1024;

/** Characters that a small body may come to in the same way: as many as fit into the longest body of JSON. */
const MIN_CHARACTERS = 16 * 1024 * 1024;

/**
 * Bounds the list items and characters that are taken out of an Arrow stream. A dictionary's value counts for each row that has it, so that a
 * small body cannot become gigabytes; other streams stay below.
 */
export class ValueBudget {
  private itemsLeft: number;
  private charactersLeft: number;

  constructor(bodyBytes: number) {
    this.itemsLeft = Math.max(ITEMS_PER_BYTE * bodyBytes, MIN_ITEMS);
    this.charactersLeft = Math.max(bodyBytes, MIN_CHARACTERS);
  }

  /** @throws FormatFault */
  takeItems(count: number): void {
    this.itemsLeft -= count;
    if (this.itemsLeft < 0) throw new FormatFault('its lists have more items than its bytes can hold');
  }

  /** @throws FormatFault */
  takeText(text: string): void {
    this.charactersLeft -= text.length;
    if (this.charactersLeft < 0) throw new FormatFault('its dictionaries and views repeat too much text');
  }
}
