import { setTimeout as sleep } from 'node:timers/promises';
import { LogError } from './log-error.js';
import type { EventLog } from './event-log.js';

const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 5_000;

interface PatientLogOptions {
  /** After it aborts, a call takes `drainMs` at most. */
  readonly signal: AbortSignal;
  /** Default 3,000. */
  readonly drainMs?: number;
  /** Longest time for which a call is retried (default: until the signal aborts). */
  readonly patienceMs?: number;
  /** Receives one line when a call fails for the first time, and one when the log answers again. */
  readonly onNotice?: (line: string) => void;
}

/**
 * Retries the calls to a log while it is unavailable. An append is repeated with the same bytes, and so the same event ids; it may land
 * twice, and readers take the first. Appends to one partition must not overlap. `follow` is not retried, as it waits by itself.
 */
export class PatientLog implements EventLog {
  private isUnavailable = false;

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

  readonly numPartitions: EventLog['numPartitions'] = (stream) => this.log.numPartitions(stream);
  readonly follow: EventLog['follow'] = (...at) => this.log.follow(...at);
  readonly append: EventLog['append'] = (...call) => this.outlast(() => this.log.append(...call));
  readonly appendInStages: EventLog['appendInStages'] = (...call) =>
    this.outlast(() => this.log.appendInStages(...call));
  readonly read: EventLog['read'] = (...at) => this.outlast(() => this.log.read(...at));
  readonly endOffset: EventLog['endOffset'] = (...of) => this.outlast(() => this.log.endOffset(...of));
  readonly startOffset: EventLog['startOffset'] = (...of) => this.outlast(() => this.log.startOffset(...of));
  readonly readCursor: EventLog['readCursor'] = (...of) => this.outlast(() => this.log.readCursor(...of));
  readonly commitCursor: EventLog['commitCursor'] = (...call) =>
    this.outlast(() => this.log.commitCursor(...call));
  readonly cursorReached: EventLog['cursorReached'] = (...call) =>
    this.outlast(() => this.log.cursorReached(...call));

  /**
   * Closes the log. After the signal has aborted, it waits for `drainMs` at most, because an unavailable log may retry an append for
   * minutes.
   */
  async close(): Promise<void> {
    try {
      await this.unlessStopped(() => this.log.close());
    } catch (error) {
      if (!(this.options.signal.aborted && error instanceof LogError && error.retriable)) throw error;
    }
  }

  /** @throws the log's error when a retry can't help or the signal has aborted; LogError `LOG_UNREACHABLE` after `patienceMs` */
  private async outlast<T>(call: () => Promise<T>): Promise<T> {
    const { signal, onNotice, patienceMs = Infinity } = this.options;
    const startedMs = performance.now();
    for (let backoffMs = MIN_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)) {
      try {
        const result = await this.unlessStopped(call);
        if (this.isUnavailable) onNotice?.('the event log answers again');
        this.isUnavailable = false;
        return result;
      } catch (error) {
        if (!(error instanceof LogError && error.retriable) || signal.aborted) throw error;
        if (performance.now() - startedMs > patienceMs) {
          const message = `the event log did not answer for ${Math.round(patienceMs / 1000)} s: ${error.message}`;
          throw new LogError('LOG_UNREACHABLE', message, { retriable: true, cause: error });
        }
        if (!this.isUnavailable) onNotice?.(`waits for the event log: ${error.message}`);
        this.isUnavailable = true;
        await sleep(backoffMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Settles like the call. @throws LogError `LOG_UNREACHABLE` if it has not settled `drainMs` after the signal aborted */
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
