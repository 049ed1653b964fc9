import { setTimeout as sleep } from 'node:timers/promises';
import { LogError } from './log-error.js';
import type { EventLog, FollowOptions, ReadOptions } from './event-log.js';
import type { Stream } from '@retrace/trajectory';

const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 5_000;

export interface PatientLogOptions {
  /** When it aborts, nothing is tried for longer than `drainMs` more. */
  readonly signal: AbortSignal;
  /** (default 3,000) */
  readonly drainMs?: number;
  /** How long a call is tried at all (default: until the signal aborts). */
  readonly patienceMs?: number;
  /** Receives one line when something fails for the first time, and when the log is back. */
  readonly onNotice?: (line: string) => void;
}

/**
 * A log whose calls outlast its absence: what fails and may succeed later is tried again, an append with the same bytes and so with the same
 * event ids. It may then land twice; readers take the first. Appends to one partition must not overlap. Followers are the log's own, which wait.
 */
export class PatientLog implements EventLog {
  private isAway = false;

  constructor(
    private readonly log: EventLog,
    private readonly options: PatientLogOptions,
  ) {}

  get logId(): string {
    return this.log.logId;
  }

  get maxRecordBytes(): number {
    return this.log.maxRecordBytes;
  }

  get maxEventBytes(): number {
    return this.log.maxEventBytes;
  }

  numPartitions(stream: Stream): number {
    return this.log.numPartitions(stream);
  }

  append(stream: Stream, partition: number, records: readonly Uint8Array[]) {
    return this.outlast(() => this.log.append(stream, partition, records));
  }

  read(stream: Stream, partition: number, fromOffset: number, options?: ReadOptions) {
    return this.outlast(() => this.log.read(stream, partition, fromOffset, options));
  }

  endOffset(stream: Stream, partition: number): Promise<number> {
    return this.outlast(() => this.log.endOffset(stream, partition));
  }

  startOffset(stream: Stream, partition: number): Promise<number> {
    return this.outlast(() => this.log.startOffset(stream, partition));
  }

  follow(stream: Stream, partition: number, fromOffset: number, options?: FollowOptions) {
    return this.log.follow(stream, partition, fromOffset, options);
  }

  readCursor(group: string, stream: Stream, partition: number): Promise<number | null> {
    return this.outlast(() => this.log.readCursor(group, stream, partition));
  }

  commitCursor(group: string, stream: Stream, partition: number, nextOffset: number): Promise<void> {
    return this.outlast(() => this.log.commitCursor(group, stream, partition, nextOffset));
  }

  cursorReached(
    group: string,
    stream: Stream,
    partition: number,
    nextOffset: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    return this.outlast(() => this.log.cursorReached(group, stream, partition, nextOffset, signal));
  }

  /**
   * Once the signal has aborted this takes no longer than `drainMs`, and lets go of a log that is away: it may go on for minutes with
   * an append that nobody waits for any more.
   */
  async close(): Promise<void> {
    try {
      await this.unlessStopped(() => this.log.close());
    } catch (error) {
      if (!(this.options.signal.aborted && error instanceof LogError && error.retriable)) throw error;
    }
  }

  /** @throws what the log threw, when no retry can mend it or the signal has aborted; LogError `LOG_UNREACHABLE` when the patience is over */
  private async outlast<T>(call: () => Promise<T>): Promise<T> {
    const { signal, onNotice, patienceMs = Infinity } = this.options;
    const startedMs = performance.now();
    for (let backoffMs = MIN_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)) {
      try {
        const result = await this.unlessStopped(call);
        if (this.isAway) onNotice?.('the event log answers again');
        this.isAway = false;
        return result;
      } catch (error) {
        if (!(error instanceof LogError && error.retriable) || signal.aborted) throw error;
        if (performance.now() - startedMs > patienceMs) {
          const message = `the event log did not answer for ${Math.round(patienceMs / 1000)} s: ${error.message}`;
          throw new LogError('LOG_UNREACHABLE', message, { retriable: true, cause: error });
        }
        if (!this.isAway) onNotice?.(`waits for the event log: ${error.message}`);
        this.isAway = true;
        await sleep(backoffMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** The call's outcome, or an error when it has none `drainMs` after the signal aborted. */
  private unlessStopped<T>(call: () => Promise<T>): Promise<T> {
    const { signal, drainMs = 3_000 } = this.options;
    return new Promise<T>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const expire = (): void => {
        timer = setTimeout(() => {
          const message = `the event log did not answer within ${drainMs} ms after this process was asked to stop`;
          reject(new LogError('LOG_UNREACHABLE', message, { retriable: true }));
        }, drainMs);
      };
      if (signal.aborted) expire();
      else signal.addEventListener('abort', expire, { once: true });
      void call()
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(timer);
          signal.removeEventListener('abort', expire);
        });
    });
  }
}
