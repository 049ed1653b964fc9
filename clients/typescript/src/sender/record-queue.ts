import { utf8Bytes } from '../storable/cut-text.js';

/** How much one reading takes: both limits hold, but one line always comes. */
export interface ReadLimits {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/**
 * Lines that wait to be sent, first in, first out. One sender reads it.
 *
 * `append` neither waits nor throws. Lines that `peek` returned stay until `take`.
 */
export interface RecordQueue {
  /** Lines that wait, as far as known: those of earlier processes are found a moment after the start. */
  readonly numLines: number;
  readonly numBytes: number;
  /** @returns false when there is no room: the line is not in the queue */
  append(line: string): boolean;
  /** The oldest lines; none when nothing waits. */
  peek(limits: ReadLimits): Promise<readonly string[]>;
  /** Takes the oldest lines out, which the last `peek` returned. */
  take(numLines: number): Promise<void>;
  /** Looks for lines that processes left which have ended. */
  adopt(): Promise<void>;
  close(): Promise<void>;
}

/** How many of the oldest lines both limits let through: at least one, if there is any. */
export function countWithin(lines: readonly string[], { maxLines, maxBytes }: ReadLimits, start = 0): number {
  let numLines = 0;
  let numBytes = 0;
  while (start + numLines < lines.length && numLines < maxLines) {
    numBytes += lineBytes(lines[start + numLines]);
    if (numBytes > maxBytes && numLines > 0) break;
    numLines++;
  }
  return numLines;
}

/** Size of a line in UTF-8, its end included. */
export function lineBytes(line: string): number {
  return utf8Bytes(line) + 1;
}
