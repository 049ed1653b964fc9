import { mkdir, open, readdir, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { OtelSpan } from '@retrace/importers';
import { GroupCommit } from '@retrace/log';

/** A line of the journal. */
export type JournalEntry =
  | { readonly kind: 'spans'; readonly scope: string; readonly spans: readonly OtelSpan[] }
  /** These spans are a part of a trace that is complete; exactly they become its episodes. */
  | {
      readonly kind: 'sealed';
      readonly scope: string;
      readonly traceId: string;
      readonly isLate: boolean;
      readonly spanIds: readonly string[];
    }
  /** The sealed part of the trace with this span, the lowest of its ids, is in the log. */
  | { readonly kind: 'written'; readonly scope: string; readonly traceId: string; readonly spanId: string };

interface Segment {
  readonly number: number;
  readonly path: string;
  bytes: number;
  writtenAtMs: number;
}

interface JournalOptions {
  /** Size after which another file begins (default 16 MiB). */
  readonly segmentBytes?: number;
  /** How long a file stays that nobody needs, so that spans which are sent again are known after a restart too (default 2 minutes). */
  readonly keepMs?: number;
  readonly nowMs?: () => number;
}

const NAME = /^(\d{10})\.jsonl$/;

/**
 * Spans on disk until they are in the log, in files that are only ever appended to. An entry is durable once `append` has resolved. After a
 * crash the last line may be incomplete; it was never acknowledged.
 */
export class TraceJournal {
  private file: FileHandle | null = null;
  private readonly commits = new GroupCommit<Buffer, number>((lines) => this.commit(lines));

  private constructor(
    private readonly directory: string,
    private readonly segments: Segment[],
    private readonly options: Required<JournalOptions>,
  ) {}

  /**
   * Opens the journal of a directory, which it makes if need be.
   *
   * @param onEntry called for each entry that is there, in order, with the number of its file
   * @param onDamage called for each whole line that can't be read
   */
  static async open(
    directory: string,
    onEntry: (entry: JournalEntry, segment: number) => void,
    onDamage: (path: string, line: number) => void,
    { segmentBytes = 16 * 1024 * 1024, keepMs = 120_000, nowMs = Date.now }: JournalOptions = {},
  ): Promise<TraceJournal> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const numbers = (await readdir(directory)).flatMap((name) => NAME.exec(name)?.[1] ?? []).sort();
    const segments: Segment[] = [];
    for (const digits of numbers) {
      const path = join(directory, `${digits}.jsonl`);
      const { size, mtimeMs } = await stat(path);
      segments.push({ number: Number(digits), path, bytes: size, writtenAtMs: mtimeMs });
      await readSegment(path, (entry) => onEntry(entry, Number(digits)), onDamage);
    }
    return new TraceJournal(directory, segments, { segmentBytes, keepMs, nowMs });
  }

  get sizeBytes(): number {
    return this.segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get firstSegment(): number | null {
    return this.segments.at(0)?.number ?? null;
  }

  /** Returns the number of the file that has the entries. When it rejects, none of them is in it. */
  append(...entries: readonly JournalEntry[]): Promise<number> {
    return this.commits.submit(Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')));
  }

  /** Removes the files before a number, those excepted that were written a moment ago, and the one that is written now. */
  async release(before: number): Promise<void> {
    const { keepMs, nowMs } = this.options;
    while (this.segments.length > 1) {
      const [{ number, path, writtenAtMs }] = this.segments;
      if (number >= before || nowMs() - writtenAtMs < keepMs) return;
      await rm(path, { force: true });
      this.segments.shift();
    }
  }

  async close(): Promise<void> {
    await this.commits.drain();
    await this.file?.close();
    this.file = null;
  }

  private async commit(lines: readonly Buffer[]): Promise<readonly number[]> {
    const bytes = Buffer.concat(lines);
    const { file, segment } = await this.current();
    try {
      let numWritten = 0;
      while (numWritten < bytes.length) {
        const { bytesWritten } = await file.write(
          bytes,
          numWritten,
          bytes.length - numWritten,
          segment.bytes + numWritten,
        );
        numWritten += bytesWritten;
      }
      await file.datasync();
    } catch (error) {
      await file.truncate(segment.bytes).catch(() => undefined);
      throw error;
    }
    segment.bytes += bytes.length;
    segment.writtenAtMs = this.options.nowMs();
    return lines.map(() => segment.number);
  }

  /** The file to write to; another one when this process has none yet, or it is full. */
  private async current(): Promise<{ readonly file: FileHandle; readonly segment: Segment }> {
    const last = this.segments.at(-1);
    if (this.file !== null && last !== undefined && last.bytes < this.options.segmentBytes) {
      return { file: this.file, segment: last };
    }
    const number = (last?.number ?? 0) + 1;
    const path = join(this.directory, `${`${number}`.padStart(10, '0')}.jsonl`);
    const file = await open(path, 'wx', 0o600);
    await this.file?.close();
    this.file = file;
    await syncDirectory(this.directory);
    const segment: Segment = { number, path, bytes: 0, writtenAtMs: this.options.nowMs() };
    this.segments.push(segment);
    return { file, segment };
  }
}

const NEWLINE = 0x0a;

/** Reads the whole lines of a file. A last one without its end was never acknowledged. */
async function readSegment(
  path: string,
  onEntry: (entry: JournalEntry) => void,
  onDamage: (path: string, line: number) => void,
): Promise<void> {
  const bytes = await readFile(path);
  let from = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(NEWLINE, from);
    if (end < 0) return;
    const entry = parseEntry(bytes.toString('utf8', from, end));
    if (entry === null) onDamage(path, line);
    else onEntry(entry);
    from = end + 1;
  }
}

function parseEntry(line: string): JournalEntry | null {
  try {
    return JSON.parse(line) as JournalEntry;
  } catch {
    return null;
  }
}

/** Makes the name of a new file durable; Windows can't, and needs not. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
