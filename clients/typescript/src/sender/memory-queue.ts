import { countWithin, lineBytes, type ReadLimits, type RecordQueue } from './record-queue.js';

/** Lines in memory, up to a limit: a new line that finds no room is not taken in. They are lost with the process. */
export class MemoryQueue implements RecordQueue {
  private lines: string[] = [];
  /** Lines at the front that were taken out; removed now and then. */
  private numTaken = 0;
  numBytes = 0;

  constructor(private readonly maxBytes: number) {}

  get numLines(): number {
    return this.lines.length - this.numTaken;
  }

  append(line: string): boolean {
    const size = lineBytes(line);
    if (this.numBytes + size > this.maxBytes) return false;
    this.lines.push(line);
    this.numBytes += size;
    return true;
  }

  peek(limits: ReadLimits): Promise<readonly string[]> {
    const end = this.numTaken + countWithin(this.lines, limits, this.numTaken);
    return Promise.resolve(this.lines.slice(this.numTaken, end));
  }

  take(numLines: number): Promise<void> {
    const end = this.numTaken + numLines;
    for (; this.numTaken < end; this.numTaken++) this.numBytes -= lineBytes(this.lines[this.numTaken]);
    if (end * 2 >= this.lines.length) {
      this.lines = this.lines.slice(end);
      this.numTaken = 0;
    }
    return Promise.resolve();
  }

  adopt(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
