import type { Damage } from './damage.js';
import type { OverflowValue } from './page-format.js';
import { readUInt64 } from './page-format.js';

/** Where the numbers of free pages are: in a leaf, or on pages of their own. */
export interface FreeList {
  readonly inLeaf: Buffer;
  readonly overflow: OverflowValue | null;
}

/** Knows which pages a tree uses: one that two trees have, or that is also free, would be overwritten by the next writer. */
export class PageUse {
  private readonly used: Uint8Array;

  constructor(
    private readonly numPages: number,
    private readonly damage: Damage,
  ) {
    this.used = new Uint8Array(numPages);
  }

  /** Notes pages of a tree, which lie in the file. */
  take({ firstPage, numPages }: OverflowValue, tree: string): void {
    for (let page = firstPage; page < firstPage + numPages; page++) {
      if (this.used[page] !== 0)
        this.damage.add(`page ${page} of its data file, of ${tree}, is also another's`);
      this.used[page] = 1;
    }
  }

  /**
   * Checks a list of free pages: how many entries follow, and then each is a page, 0 for none, or the number of pages of a block, negative, in
   * front of its first page.
   *
   * @param list u64 each
   */
  checkFree(list: Buffer): void {
    const numEntries = list.length < 8 ? Infinity : readUInt64(list, 0);
    if (numEntries > list.length / 8 - 1) {
      this.damage.add(
        `a list of free pages of its data file has ${list.length} bytes for ${numEntries} entries`,
      );
      return;
    }
    for (let i = 1; i <= numEntries; i++) {
      const entry = Number(list.readBigInt64LE(8 * i));
      if (entry === 0) continue;
      const firstPage = entry > 0 ? entry : i < numEntries ? readUInt64(list, 8 * ++i) : 0;
      const numPages = entry > 0 ? 1 : -entry;
      for (let page = firstPage; page < firstPage + numPages; page++) {
        // The first two pages are the meta pages.
        if (page > 1 && page < this.numPages && this.used[page] === 0) continue;
        this.damage.add(`page ${page} is in a list of free pages of its data file, and is not free`);
        return;
      }
    }
  }
}
