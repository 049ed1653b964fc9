import { open, readFile, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutboxEntry, OutboxLine } from '@retrace/client';
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

interface WaitingLine extends NewLine {
  readonly onWritten: () => void;
}

const FILE = 'journal.ndjson';

/**
 * A file that says which episodes are being recorded, and what was recorded last. A line is written before a client has its whole answer,
 * so that a call that was answered is neither lost nor recorded twice when this process is killed: the next one applies the events and
 * gives the entries to the spool again, of which the server takes each once.
 *
 * Lines are written one after the other, those that wait together. A line that could not be written is reported and left out. What
 * follows from a line, such as sending its entries, happens in the order of the lines, and never before the line is in the file.
 */
export class Journal {
  sizeBytes = 0;
  /** Why the last line could not be written; null when it was. */
  failure: string | null = null;
  /** Whether a line was left out, so that the next process would miss its events, until the file is written again. */
  lacksLines = false;
  private waiting: WaitingLine[] = [];
  private tail: Promise<void> = Promise.resolve();
  private isQueued = false;

  private constructor(
    private readonly directory: string,
    private file: FileHandle,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** @returns the journal, and the lines that earlier processes wrote; a torn last line is left out */
  static async open(
    directory: string,
    onError: (error: unknown) => void,
  ): Promise<{ readonly journal: Journal; readonly lines: readonly JournalLine[] }> {
    const path = join(directory, FILE);
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    });
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const file = await open(path, 'a', 0o600);
    if (whole.length < text.length) await file.truncate(Buffer.byteLength(whole));
    const journal = new Journal(directory, file, onError);
    journal.sizeBytes = Buffer.byteLength(whole);
    return { journal, lines: whole.split('\n').flatMap(parseLine) };
  }

  /**
   * Resolves once the line is in the file, or could not be written.
   *
   * @param onWritten is called then, after that of every earlier line
   */
  append(line: NewLine, onWritten: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({
        ...line,
        onWritten: () => {
          onWritten();
          resolve();
        },
      });
      if (this.isQueued) return;
      this.isQueued = true;
      this.tail = this.tail.then(() => this.writeOut());
    });
  }

  /**
   * Writes the file again with the events of a snapshot in place of all lines so far.
   *
   * @param spooled resolves once the entries of the lines that are in the file are kept elsewhere, as the file will lack them
   */
  replace(snapshot: () => readonly BookEvent[], spooled: () => Promise<void>): Promise<void> {
    this.tail = this.tail
      .then(() => this.writeOut())
      .then(spooled)
      .then(() => this.writeAgain(snapshot))
      .catch(this.onError);
    return this.tail;
  }

  async close(): Promise<void> {
    await this.tail;
    await this.file.close();
  }

  private async writeOut(): Promise<void> {
    this.isQueued = false;
    const lines = this.takeWaiting();
    if (lines.length === 0) return;
    const bytes = Buffer.from(lines.map(textOf).join(''));
    try {
      for (let at = 0; at < bytes.length;) at += (await this.file.write(bytes, at)).bytesWritten;
      this.sizeBytes += bytes.length;
      this.failure = null;
    } catch (error) {
      await this.file.truncate(this.sizeBytes).catch(() => undefined);
      this.failure = error instanceof Error ? error.message : String(error);
      this.lacksLines = true;
      this.onError(error);
    }
    for (const { onWritten } of lines) onWritten();
  }

  private async writeAgain(snapshot: () => readonly BookEvent[]): Promise<void> {
    const path = join(this.directory, FILE);
    // The snapshot has the events of lines that wait, so the file gets their entries with it.
    const lines = this.takeWaiting();
    const kept = snapshot().map((event) => textOf({ events: [event], entries: [] }));
    const text = [...kept, ...lines.map(({ entries }) => textOf({ events: [], entries }))].join('');
    const { file } = this;
    try {
      this.file = await newFile(path, text);
    } catch (error) {
      this.waiting = [...lines, ...this.waiting];
      throw error;
    }
    this.sizeBytes = Buffer.byteLength(text);
    this.lacksLines = false;
    for (const { onWritten } of lines) onWritten();
    await file.close();
  }

  private takeWaiting(): readonly WaitingLine[] {
    const lines = this.waiting;
    this.waiting = [];
    return lines;
  }
}

/** Puts a new file in the place of one, in one step. @returns the new one, to be written on */
async function newFile(path: string, text: string): Promise<FileHandle> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.appendFile(text);
    await rename(`${path}.new`, path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The line as JSON. */
function textOf({ events, entries }: NewLine): string {
  const contents = entries.map(
    ({ kind, run, json }) => `{"kind":"${kind}","run":${JSON.stringify(run)},"content":${json}}`,
  );
  return `{"events":${JSON.stringify(events)},"entries":[${contents.join(',')}]}\n`;
}

function parseLine(text: string): JournalLine[] {
  if (text === '') return [];
  try {
    return [JSON.parse(text) as JournalLine];
  } catch {
    return [];
  }
}
