import { join } from 'node:path';
import { outboxLine, type OutboxEntry, type OutboxLine } from '@retrace/client';
import { adoptEarlierFile, Spool } from '@retrace/spool';
import type { BookEvent } from '../episode/book-event.js';

/** One line: changes of the book, and the entries for Retrace that belong to them. */
export interface JournalLine {
  readonly events: readonly BookEvent[];
  readonly entries: readonly OutboxEntry[];
}

/** A line to be written, with its entries as the sender has them: as text. */
export interface NewLine {
  readonly events: readonly BookEvent[];
  readonly entries: readonly OutboxLine[];
}

const FOLDER = 'journal';
/** A file with a line of text for each record, as earlier versions wrote it. */
const EARLIER_FILE = 'journal.ndjson';
const LONG_BYTES = 8 * 1024 ** 2;
/** Bytes that wait for the disk beyond which calls go on unrecorded. The spool takes twice as many, so that ends find room. */
const MAX_WAITING_BYTES = 64 * 1024 ** 2;

/**
 * Files that say which episodes are being recorded, and what was recorded last. A line is written before a client has its whole answer,
 * so that a call that was answered is neither lost nor recorded twice when this process is killed: the next one applies the events and
 * gives the entries to the spool again, of which the server takes each once.
 *
 * Lines are written one after the other, those that wait together. A line that could not be written is reported and left out. What
 * follows from a line, such as sending its entries, happens in the order of the lines, and never before the line is in a file.
 */
export class Journal {
  /** Whether a line was left out, so that the next process would miss its events, until the files are written again. */
  lacksLines = false;
  /** Bytes of the files when they were written again. */
  private snapshotBytes = 0;
  private refusal: string | null = null;
  /** Settles when all lines so far are in a file, or could not be written. */
  private settled: Promise<void> = Promise.resolve();

  private constructor(
    private readonly spool: Spool,
    private readonly onError: (error: unknown) => void,
    private readonly maxWaitingBytes: number,
  ) {}

  /** @returns the journal, and the lines that earlier processes wrote; a torn last line is left out */
  static async open(
    directory: string,
    onError: (error: unknown) => void,
    maxWaitingBytes = MAX_WAITING_BYTES,
  ): Promise<{ readonly journal: Journal; readonly lines: readonly JournalLine[] }> {
    const folder = join(directory, FOLDER);
    await adoptEarlierFile(folder, join(directory, EARLIER_FILE), (contents) => {
      const whole = contents.toString().split('\n').slice(0, -1);
      return whole.map((line) => Buffer.from(line));
    });
    const lines: JournalLine[] = [];
    const settings = { sync: false, keeps: 'whole records', maxWaitingBytes: 2 * maxWaitingBytes } as const;
    const spool = await Spool.open(folder, settings, {
      onRecord: (bytes) => lines.push(...parseLine(bytes.toString())),
      onDamage: ({ path, numBytes, isEnd, isTornRecord }) => {
        if (!isEnd) onError(new Error(`${numBytes} bytes of ${path} are damaged, and were left out`));
        else if (!isTornRecord)
          onError(new Error(`the last ${numBytes} bytes of ${path} are damaged, and were cut off`));
      },
    });
    return { journal: new Journal(spool, onError, maxWaitingBytes), lines };
  }

  get sizeBytes(): number {
    return this.spool.sizeBytes;
  }

  /** Whether it is worth writing the files again, which takes as long as they were then. */
  get isLong(): boolean {
    return this.sizeBytes > Math.max(LONG_BYTES, 2 * this.snapshotBytes);
  }

  /** Whether a call may be recorded; otherwise the disk hangs, and too much waits for it. */
  get hasRoom(): boolean {
    return this.spool.waitingBytes < this.maxWaitingBytes;
  }

  /** Why the last line could not be written, or none is taken; null when it was. */
  get failure(): string | null {
    return this.hasRoom ? this.refusal : `${this.spool.waitingBytes} bytes wait for the disk`;
  }

  /**
   * Resolves once the line is in a file, or could not be written.
   *
   * @param onWritten is called then, after that of every earlier line
   */
  append(line: NewLine, onWritten: () => void): Promise<void> {
    const isWritten = this.write(line);
    // The spool refuses a line that is too large at once, while earlier ones wait.
    const goneOn = Promise.all([isWritten, this.settled]).then(onWritten);
    this.settled = goneOn.catch(() => undefined);
    return goneOn;
  }

  private async write(line: NewLine): Promise<void> {
    try {
      await this.spool.append([encodeLine(line)]);
      this.refusal = null;
    } catch (error) {
      this.refusal = error instanceof Error ? error.message : String(error);
      this.lacksLines = true;
      this.onError(error);
    }
  }

  /**
   * Writes the journal again with the events of a snapshot in place of all lines so far.
   *
   * @param spooled resolves once the entries of the lines that are in files are kept elsewhere, as the journal will lack them
   */
  async replace(snapshot: () => readonly BookEvent[], spooled: () => Promise<void>): Promise<void> {
    let lacked = this.lacksLines;
    try {
      await this.spool.replace(spooled, (waiting) => {
        lacked = this.lacksLines;
        this.lacksLines = false;
        // The snapshot has the events of lines that wait.
        const entries = waiting.map((line) => encodeLine({ events: [], entries: entriesIn(line) }));
        return [...snapshot().map((event) => encodeLine({ events: [event], entries: [] })), ...entries];
      });
      this.snapshotBytes = this.sizeBytes;
    } catch (error) {
      this.lacksLines ||= lacked;
      this.onError(error);
    }
  }

  /** Resolves when what follows from each line has happened, too. */
  async close(): Promise<void> {
    await this.spool.close();
    await this.settled;
  }
}

/** The line as JSON. */
function encodeLine({ events, entries }: NewLine): Buffer {
  const contents = entries.map(
    ({ kind, run, json }) => `{"kind":"${kind}","run":${JSON.stringify(run)},"content":${json}}`,
  );
  return Buffer.from(`{"events":${JSON.stringify(events)},"entries":[${contents.join(',')}]}`);
}

function entriesIn(line: Uint8Array): readonly OutboxLine[] {
  return parseLine(Buffer.from(line).toString()).flatMap(({ entries }) => entries.map(outboxLine));
}

function parseLine(text: string): JournalLine[] {
  try {
    return [JSON.parse(text) as JournalLine];
  } catch {
    return [];
  }
}
