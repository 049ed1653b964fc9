import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { OtelSpan } from '@retrace/importers';
import { adoptEarlierFile, earlierPath, Spool } from '@retrace/spool';

/** A record of the journal. */
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

interface JournalOptions {
  /** Size after which another file begins (default 16 MiB). */
  readonly segmentBytes?: number;
  /** How long a file stays that nobody needs, so that spans which are sent again are known after a restart too (default 2 minutes). */
  readonly keepMs?: number;
  readonly nowMs?: () => number;
}

/** A file with a line of text for each entry, as earlier versions wrote it. */
const EARLIER_NAME = /^\d{10}\.jsonl$/;

/** Spans on disk until they are in the log. An entry is durable once `append` has resolved. */
export class TraceJournal {
  private constructor(
    private readonly spool: Spool,
    private readonly isNeeded: (writtenAtMs: number) => boolean,
  ) {}

  /**
   * Opens the journal of a directory, which it makes if need be.
   *
   * @param onEntry called for each entry that is there, in order, with the number of its file
   * @param onWarning called with a sentence for each damage
   */
  static async open(
    directory: string,
    onEntry: (entry: JournalEntry, segment: number) => void,
    onWarning: (message: string) => void,
    { segmentBytes, keepMs = 120_000, nowMs = Date.now }: JournalOptions = {},
  ): Promise<TraceJournal> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await takeOver(directory, onWarning);
    const settings = { sync: true, keeps: 'whole records', segmentBytes, nowMs } as const;
    const spool = await Spool.open(directory, settings, {
      onRecord: (bytes, segment) => {
        onEntry(JSON.parse(bytes.toString()) as JournalEntry, segment);
      },
      onDamage: ({ path, at, numBytes, isEnd }) => {
        const lost = isEnd
          ? 'cut off; no span in them was confirmed, unless the disk has changed them'
          : 'lost';
        onWarning(`${numBytes} bytes at ${at} of ${path} are no whole record, and were ${lost}`);
      },
    });
    return new TraceJournal(spool, (writtenAtMs) => nowMs() - writtenAtMs < keepMs);
  }

  get sizeBytes(): number {
    return this.spool.sizeBytes;
  }

  get firstSegment(): number | null {
    return this.spool.firstSegment;
  }

  /** Returns the number of the file that has the entries. When it rejects, none of them is in it. */
  append(...entries: readonly JournalEntry[]): Promise<number> {
    return this.spool.append(entries.map((entry) => Buffer.from(JSON.stringify(entry))));
  }

  /** Removes the files before a number, those excepted that were written a moment ago, and the one that is written now. */
  release(before: number): Promise<void> {
    return this.spool.release(({ number, writtenAtMs }) => number < before && !this.isNeeded(writtenAtMs));
  }

  close(): Promise<void> {
    return this.spool.close();
  }
}

/** Brings the lines of earlier versions' files into the spool's, and removes them. A last one without its end was never confirmed. */
async function takeOver(directory: string, onWarning: (message: string) => void): Promise<void> {
  const names = new Set(
    (await readdir(directory)).map(earlierPath).filter((name) => EARLIER_NAME.test(name)),
  );
  for (const name of [...names].sort()) {
    const path = join(directory, name);
    await adoptEarlierFile(directory, path, (contents) => {
      const lines = contents.toString().split('\n').slice(0, -1);
      const whole = lines.filter((line, i) => {
        if (isJson(line)) return true;
        onWarning(`line ${i + 1} of ${path} is damaged; the spans in it are lost`);
        return false;
      });
      return whole.map((line) => Buffer.from(line));
    });
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
