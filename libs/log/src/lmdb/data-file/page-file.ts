import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type Meta, META_BYTES, NUM_META_PAGES, type OverflowValue, readMeta } from './page-format.js';

/** Bytes that are read at once: neighbouring pages are mostly written together, and so asked for together. */
const WINDOW_BYTES = 64 * 1024;

/** LMDB's data file, read page by page without mapping it, so that a page that is gone is no signal to this process. */
export class PageFile {
  private readonly window = Buffer.alloc(WINDOW_BYTES);
  private windowStart = 0;
  private windowEnd = 0;
  private size = 0;

  private constructor(private readonly descriptor: number) {
    this.refresh();
  }

  /** Opens the file; null where the path names something else. @throws what the file system throws */
  static open(path: string): PageFile | null {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fstatSync(descriptor).isFile()) return new PageFile(descriptor);
    closeSync(descriptor);
    return null;
  }

  get sizeBytes(): number {
    return this.size;
  }

  /** Reads both meta pages; null for one that is damaged. */
  readMetas(): (Meta | null)[] {
    const first = readMeta(this.read(0, META_BYTES));
    // The first page says where the second one is.
    if (first === null) return [null];
    return Array.from({ length: NUM_META_PAGES }, (_, i) =>
      i === 0 ? first : readMeta(this.read(i * first.pageBytes, META_BYTES)),
    );
  }

  /** Returns a page, until the next call; null when the file ends before it does. */
  page(number: number, pageBytes: number): Buffer | null {
    const at = number * pageBytes;
    if (!Number.isSafeInteger(at)) return null;
    if (at < this.windowStart || at + pageBytes > this.windowEnd) {
      const start = at - (at % WINDOW_BYTES);
      const numBytes = readSync(this.descriptor, this.window, 0, WINDOW_BYTES, start);
      this.windowStart = start;
      this.windowEnd = start + numBytes;
    }
    if (at + pageBytes > this.windowEnd) return null;
    return this.window.subarray(at - this.windowStart, at - this.windowStart + pageBytes);
  }

  /** Returns a copy of pages that the file has. */
  pages({ firstPage, numPages }: OverflowValue, pageBytes: number): Buffer {
    return this.read(firstPage * pageBytes, numPages * pageBytes);
  }

  /** Whether the file reaches to the end of a page. */
  holds(number: number, pageBytes: number): boolean {
    return (number + 1) * pageBytes <= this.size;
  }

  /** Forgets what was read, which a writer may have changed since. */
  refresh(): void {
    this.windowEnd = this.windowStart;
    this.size = fstatSync(this.descriptor).size;
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private read(at: number, numBytes: number): Buffer {
    const bytes = Buffer.alloc(numBytes);
    return bytes.subarray(0, readSync(this.descriptor, bytes, 0, numBytes, at));
  }
}
