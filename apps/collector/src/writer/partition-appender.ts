import { setTimeout as sleep } from 'node:timers/promises';
import { LogError, type EventLog } from '@retrace/log';
import type { PartitionQueue } from './partition-queue.js';

/** Most bytes of one append. */
const MAX_APPEND_BYTES = 2 * 1024 * 1024;

/** Whether one append takes all that waits in memory, and nothing waits in the spool. */
export function isSmall(queue: PartitionQueue): boolean {
  return queue.numSpooled === 0 && queue.memoryBytes <= MAX_APPEND_BYTES;
}

const MAX_BACKOFF_MS = 5_000;

export interface AppendTiming {
  /** An append that takes longer than this makes the log count as unavailable (default 5,000). */
  readonly awayAfterMs: number;
  /** An append that has not settled after this is retried (default 150,000, longer than an append to Kafka is tried). */
  readonly appendDeadlineMs: number;
  /** Pause after the first failure (default 50); doubled with each further one, up to 5 s. */
  readonly retryAfterMs: number;
}

interface PartitionAppenderParts extends AppendTiming {
  readonly log: EventLog;
  readonly partition: number;
  readonly queue: PartitionQueue;
  /** Ends the retries. */
  readonly closing: AbortSignal;
  /** Called whenever something was acknowledged, failed, or is late. */
  readonly onChange: () => void;
}

/**
 * Appends the queue of one partition, oldest records first, one append at a time. A failed append is retried with the same bytes before
 * newer records are appended, so the first copies of all records are in the log in the order in which they were written.
 */
export class PartitionAppender {
  private running: Promise<void> | null = null;
  /** Why the log counts as unavailable; null while it answers. */
  away: string | null = null;
  /** An error that no retry can fix; null without one. */
  failure: Error | null = null;
  private isResting = false;

  constructor(private readonly parts: PartitionAppenderParts) {}

  start(): void {
    this.isResting = false;
    if (this.running || this.parts.queue.isEmpty || this.failure) return;
    this.running = this.run().finally(() => {
      this.running = null;
      this.parts.onChange();
    });
  }

  /** Ends after the append under way, until the next `start`. */
  rest(): void {
    this.isResting = true;
  }

  /** Whether an append is under way whose answer is not late. */
  get isBusy(): boolean {
    return this.running !== null && this.away === null;
  }

  /** Whether the log does not answer. */
  get isUnsure(): boolean {
    return this.running !== null || this.away !== null;
  }

  private async run(): Promise<void> {
    const { queue, closing, onChange, retryAfterMs } = this.parts;
    let backoffMs = retryAfterMs;
    while (!queue.isEmpty && !closing.aborted && !this.isResting) {
      try {
        const head = queue.head(MAX_APPEND_BYTES);
        const records = Array.isArray(head) ? head : await head;
        await this.append(records);
        if (closing.aborted) return;
        this.away = null;
        await queue.acknowledge(records.length);
        backoffMs = retryAfterMs;
      } catch (error) {
        if (!(error instanceof LogError && error.retriable)) {
          this.failure = error as Error;
          return;
        }
        this.away = error.message;
        onChange();
        await sleep(backoffMs, undefined, { signal: closing }).catch(() => undefined);
        backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS);
      }
      onChange();
    }
  }

  /** Resolves when the append is acknowledged, or at once when closing. */
  private async append(records: readonly Uint8Array[]): Promise<void> {
    const { log, partition, awayAfterMs, appendDeadlineMs, closing, onChange } = this.parts;
    const timers: NodeJS.Timeout[] = [];
    let stop: () => void = () => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        stop = resolve;
        closing.addEventListener('abort', stop, { once: true });
        const late = (): void => {
          this.away ??= `an append to partition ${partition} has taken more than ${awayAfterMs} ms`;
          onChange();
        };
        const giveUp = (): void => {
          const message = `an append to partition ${partition} did not settle within ${appendDeadlineMs} ms; whether it landed is unknown`;
          reject(new LogError('LOG_UNREACHABLE', message, { retriable: true }));
        };
        timers.push(setTimeout(late, awayAfterMs), setTimeout(giveUp, appendDeadlineMs));
        log.append('trajectories', partition, records).then(() => {
          resolve();
        }, reject);
      });
    } finally {
      closing.removeEventListener('abort', stop);
      timers.forEach(clearTimeout);
    }
  }

  /** Resolves when no append is under way any more; call when closing. */
  async stopped(): Promise<void> {
    await this.running;
  }
}
