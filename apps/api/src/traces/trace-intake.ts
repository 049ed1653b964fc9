import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CompletedTrace,
  completedTraceRecords,
  isModelCall,
  OpenTraces,
  type OtelSpan,
} from '@retrace/importers';
import type { WireRecord } from '@retrace/recording';
import { SpoolError } from '@retrace/spool';
import { ProblemError } from '../problems/problem.js';
import { TraceJournal, type JournalEntry } from './trace-journal.js';

/** Writes the episodes of traces; the recorder, with a run for each scope. */
export interface TraceWriter {
  /** Resolves when the log has the records. */
  write(scope: string, records: readonly WireRecord[]): Promise<void>;
  /** How an error of `write` is to be met. */
  verdictOf(error: unknown): WriteVerdict;
}

/**
 * `later`: send the same again. `conflict`: the episode has other content. `refused`: no repetition helps. `deleted`: the episode was deleted, so
 * nothing is sent.
 */
export type WriteVerdict = 'later' | 'conflict' | 'refused' | 'deleted';

export interface TraceIntakeOptions {
  /** Time without a new span after which a trace without ended root counts as complete. */
  readonly idleMs: number;
  readonly onWarning: (message: string) => void;
  readonly nowMs?: () => number;
}

export interface TraceCounts {
  numSpans: number;
  /** Spans that had come before. */
  numDuplicates: number;
  numEpisodes: number;
  /** Traces, or parts of them, in which no model was called. */
  numWithoutCall: number;
  /** Traces, or parts of them, that the recorder refused; their spans are in folder `refused`. */
  numRefused: number;
}

const SETTLE_MS = 3_000;
const MAX_SPANS = 200_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** Size of the journal beyond which traces that hold up its oldest file are completed. */
const CROWDED_BYTES = 256 * 1024 * 1024;
/** Size beyond which nothing more is taken. */
const MAX_BYTES = 1024 * 1024 * 1024;
const WRITES_AT_ONCE = 16;
/** Records of one write. */
const MAX_RECORDS = 2_000;
const RETRY_MS = 2_000;
const NOTED_ONE_BY_ONE = 100;

/**
 * Takes spans of traces that are still running, and writes each trace as episodes once it is complete. What it has taken is on disk, so it
 * survives the process: the next one on the same directory goes on where this one stopped.
 *
 * A trace is sealed before it is written, which settles its spans. So it always becomes the same records, which the log takes once,
 * however often they are written.
 */
export class TraceIntake {
  readonly counts: TraceCounts = {
    ...{ numSpans: 0, numDuplicates: 0, numEpisodes: 0, numWithoutCall: 0, numRefused: 0 },
  };
  private readonly traces: OpenTraces;
  /** Complete, but not sealed. */
  private complete: CompletedTrace[] = [];
  /** Sealed, but not in the log. */
  private sealed: CompletedTrace[] = [];
  private journal!: TraceJournal;
  private turning: Promise<void> | null = null;
  private nextTryMs = 0;
  private isClosing = false;

  private constructor(
    private readonly directory: string,
    private readonly writer: TraceWriter,
    private readonly options: TraceIntakeOptions,
  ) {
    this.traces = new OpenTraces({
      idleMs: options.idleMs,
      settleMs: Math.min(SETTLE_MS, options.idleMs),
      maxSpans: MAX_SPANS,
      maxCharacters: MAX_CHARACTERS,
      nowMs: () => this.nowMs(),
    });
  }

  /** Opens the intake of a directory that this process holds, with what an earlier one left there. */
  static async open(
    directory: string,
    writer: TraceWriter,
    options: TraceIntakeOptions,
  ): Promise<TraceIntake> {
    const intake = new TraceIntake(directory, writer, options);
    intake.journal = await TraceJournal.open(
      directory,
      (entry, segment) => {
        intake.restore(entry, segment);
      },
      options.onWarning,
    );
    return intake;
  }

  get numOpenTraces(): number {
    return this.traces.numTraces + this.complete.length + this.sealed.length;
  }

  /**
   * Takes spans of a scope, and resolves when they are on disk, with how many of them are of a trace that is over and has no call of a
   * model: they become no episode, unless one comes within seconds.
   *
   * @throws ProblemError `TOO_MANY_RECORDS_IN_FLIGHT` when they find no room, `TRACES_UNAVAILABLE` when they can't be stored
   */
  async accept(scope: string, spans: readonly OtelSpan[]): Promise<{ readonly numWithoutCall: number }> {
    const fresh = spans.filter((span) => !this.traces.has(scope, span));
    this.counts.numDuplicates += spans.length - fresh.length;
    if (fresh.length === 0) return { numWithoutCall: 0 };
    this.requireRoom();
    const mark = await this.append({ kind: 'spans', scope, spans: fresh });
    this.counts.numSpans += fresh.length;
    this.complete.push(...this.traces.add({ scope, spans: fresh, mark }));
    const traceIds = [...new Set(fresh.map(({ traceId }) => traceId))];
    const without = new Set(traceIds.filter((traceId) => this.isOverWithoutCall(scope, traceId)));
    return { numWithoutCall: fresh.filter(({ traceId }) => without.has(traceId)).length };
  }

  /** Seals and writes what is complete; to be called again and again. Never rejects. */
  turn(): Promise<void> {
    this.turning ??= this.turnOnce()
      .catch((error: unknown) => {
        this.options.onWarning(`traces wait: ${error instanceof Error ? error.message : String(error)}`);
        this.nextTryMs = this.nowMs() + RETRY_MS;
      })
      .finally(() => {
        this.turning = null;
      });
    return this.turning;
  }

  /** Stops; open traces stay on disk for the next process. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.turning;
    await this.journal.close();
  }

  private isOverWithoutCall(scope: string, traceId: string): boolean {
    const spans = this.traces.endedSpans(scope, traceId);
    return spans !== null && !spans.some(isModelCall);
  }

  /** Says which traces became no episode: each of the first ones, then how many at times, since a service may trace much else. */
  private noteWithoutCall({ traceId }: CompletedTrace, reason: string): void {
    const number = ++this.counts.numWithoutCall;
    if (number > NOTED_ONE_BY_ONE && number % NOTED_ONE_BY_ONE !== 0) return;
    const others = number > 1 ? `; so did ${number - 1} others` : '';
    this.options.onWarning(`trace ${traceId} became no episode: ${reason}${others}`);
  }

  private restore(entry: JournalEntry, segment: number): void {
    if (entry.kind === 'spans') {
      this.traces.restore({ scope: entry.scope, spans: entry.spans, mark: segment });
    } else if (entry.kind === 'sealed') {
      const { scope, traceId, isLate, spanIds } = entry;
      const taken = this.traces.takeSpans(scope, traceId, new Set(spanIds));
      if (taken !== null) this.sealed.push({ ...taken, isLate });
    } else {
      const at = this.sealed.findIndex(
        (trace) =>
          trace.scope === entry.scope && trace.traceId === entry.traceId && lowestId(trace) === entry.spanId,
      );
      if (at >= 0) this.sealed.splice(at, 1);
    }
  }

  private async turnOnce(): Promise<void> {
    if (this.isClosing || this.nowMs() < this.nextTryMs) return;
    this.complete.push(...this.traces.takeComplete());
    const first = this.journal.firstSegment;
    if (this.journal.sizeBytes > CROWDED_BYTES && first !== null) {
      this.complete.push(...this.traces.takeMarked(first));
    }
    await this.seal();
    while (this.sealed.length > 0 && !this.isClosing) {
      const batch = this.sealed.slice(0, WRITES_AT_ONCE);
      const isWritten = await Promise.all(batch.map((trace) => this.write(trace)));
      const written = batch.filter((_, i) => isWritten[i]);
      this.sealed = this.sealed.filter((trace) => !written.includes(trace));
      await this.append(
        ...written.map((trace): JournalEntry => {
          const { scope, traceId } = trace;
          return { kind: 'written', scope, traceId, spanId: lowestId(trace) };
        }),
      );
      if (written.length < batch.length) {
        this.nextTryMs = this.nowMs() + RETRY_MS;
        break;
      }
    }
    await this.journal.release(this.lowestMark());
  }

  private async seal(): Promise<void> {
    const traces = this.complete;
    if (traces.length === 0) return;
    await this.append(
      ...traces.map(({ scope, traceId, isLate, spans }): JournalEntry => {
        const spanIds = spans.map(({ spanId }) => spanId);
        return { kind: 'sealed', scope, traceId, isLate, spanIds };
      }),
    );
    this.complete = this.complete.filter((trace) => !traces.includes(trace));
    this.sealed.push(...traces);
  }

  /** Writes a trace; returns false when it has to be tried again. */
  private async write(trace: CompletedTrace): Promise<boolean> {
    const { episodes, skipped } = completedTraceRecords(trace);
    if (episodes.length === 0) this.noteWithoutCall(trace, skipped.map(({ detail }) => detail).join('; '));
    const records = episodes.flat();
    try {
      for (let from = 0; from < records.length; from += MAX_RECORDS)
        await this.writer.write(trace.scope, records.slice(from, from + MAX_RECORDS));
      this.counts.numEpisodes += episodes.length;
      return true;
    } catch (error) {
      const verdict = this.isClosing ? 'later' : this.writer.verdictOf(error);
      if (verdict === 'later') return false;
      if (verdict === 'deleted') return true;
      // An earlier part was written by a process whose files are gone, or by another one.
      if (verdict === 'conflict' && !trace.isLate) return this.write({ ...trace, isLate: true });
      await this.keepRefused(trace, error);
      return true;
    }
  }

  private async keepRefused(trace: CompletedTrace, error: unknown): Promise<void> {
    const folder = join(this.directory, 'refused');
    const path = join(folder, `${trace.traceId}-${lowestId(trace)}.json`);
    const reason = error instanceof Error ? error.message : String(error);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, JSON.stringify({ reason, scope: trace.scope, spans: trace.spans }), {
      mode: 0o600,
    });
    this.counts.numRefused++;
    this.options.onWarning(`trace ${trace.traceId} was refused, and its spans are in ${path}: ${reason}`);
  }

  private async append(...entries: readonly JournalEntry[]): Promise<number> {
    if (this.isClosing)
      throw new ProblemError('SHUTTING_DOWN', 'The server is shutting down; send them again');
    try {
      return entries.length === 0 ? 0 : await this.journal.append(...entries);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isFull = error instanceof SpoolError && error.code === 'SPOOL_FULL';
      const code = isFull ? 'TOO_MANY_RECORDS_IN_FLIGHT' : 'TRACES_UNAVAILABLE';
      throw new ProblemError(code, `Spans can't be stored in ${this.directory}: ${reason}`);
    }
  }

  private requireRoom(): void {
    const waiting = [...this.complete, ...this.sealed].reduce((sum, { characters }) => sum + characters, 0);
    if (waiting < MAX_CHARACTERS && this.journal.sizeBytes < MAX_BYTES) return;
    const detail = `${this.numOpenTraces} traces wait for the log; send the spans again after the time that Retry-After gives`;
    throw new ProblemError('TOO_MANY_RECORDS_IN_FLIGHT', detail);
  }

  private lowestMark(): number {
    const marks = [...this.complete, ...this.sealed].map(({ mark }) => mark);
    return Math.min(this.traces.lowestMark ?? Infinity, ...marks);
  }

  private nowMs(): number {
    return this.options.nowMs?.() ?? performance.now();
  }
}

function lowestId({ spans }: CompletedTrace): string {
  return spans.reduce((lowest, { spanId }) => (spanId < lowest ? spanId : lowest), spans[0].spanId);
}
