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

const FILE = 'journal.ndjson';

/**
 * A file that says which episodes are being recorded, and what was recorded last. A line is written before a client has its whole answer,
 * so that a call that was answered is neither lost nor recorded twice when this process is killed: the next one applies the events and
 * gives the entries to the spool again, of which the server takes each once.
 *
 * Lines are written one after the other, those that wait together. A line that could not be written is reported and left out.
 */
export class Journal {
  sizeBytes = 0;
  /** Why the last line could not be written; null when it was. */
  failure: string | null = null;
  private waiting: NewLine[] = [];
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

  /** Resolves once the line is in the file, or could not be written. */
  append(line: NewLine): Promise<void> {
    this.waiting.push(line);
    if (!this.isQueued) {
      this.isQueued = true;
      this.tail = this.tail.then(() => this.writeOut());
    }
    return this.tail;
  }

  /**
   * Writes the file again with the events of a snapshot in place of all lines so far.
   *
   * @param spooled resolves once all entries so far are kept elsewhere, as the file will lack them
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
    if (this.waiting.length === 0) return;
    const bytes = Buffer.from(this.waiting.splice(0).map(textOf).join(''));
    try {
      for (let at = 0; at < bytes.length;) at += (await this.file.write(bytes, at)).bytesWritten;
      this.sizeBytes += bytes.length;
      this.failure = null;
    } catch (error) {
      await this.file.truncate(this.sizeBytes).catch(() => undefined);
      this.failure = error instanceof Error ? error.message : String(error);
      this.onError(error);
    }
  }

  private async writeAgain(snapshot: () => readonly BookEvent[]): Promise<void> {
    const path = join(this.directory, FILE);
    // The snapshot has the events of lines that wait; their entries are written after it.
    this.waiting = this.waiting.map(({ entries }) => ({ events: [], entries }));
    const text = snapshot()
      .map((event) => `${JSON.stringify({ events: [event], entries: [] })}\n`)
      .join('');
    const next = await open(`${path}.new`, 'w', 0o600);
    try {
      await next.appendFile(text);
      await rename(`${path}.new`, path);
    } catch (error) {
      await next.close();
      throw error;
    }
    await this.file.close();
    this.file = next;
    this.sizeBytes = Buffer.byteLength(text);
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
