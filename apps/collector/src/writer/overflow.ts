import type { SpoolOptions } from './open-spool.js';
import type { PartitionAppender } from './partition-appender.js';
import type { PartitionQueue } from './partition-queue.js';

interface OverflowParts {
  readonly queues: readonly PartitionQueue[];
  readonly appenders: readonly PartitionAppender[];
  /** Without it records stay in memory. */
  readonly spool?: SpoolOptions;
  readonly maxMemoryBytes: number;
  /** After it aborts, nothing is moved. */
  readonly closing: AbortSignal;
  readonly onNotice?: (line: string) => void;
  /** Called when records were moved out of memory. */
  readonly onMoved: () => void;
}

/** Moves records from memory to the spool while the log is unavailable, and tells of it. */
export class Overflow {
  /** The move under way. */
  spilling: Promise<void> | null = null;
  private awaySinceMs: number | null = null;
  private isFull = false;
  private peakBytes = 0;

  constructor(private readonly parts: OverflowParts) {}

  get spoolBytes(): number {
    return this.parts.queues.reduce((sum, queue) => sum + queue.spoolBytes, 0);
  }

  get memoryBytes(): number {
    return this.parts.queues.reduce((sum, queue) => sum + queue.memoryBytes, 0);
  }

  takePeakBytes(): number {
    const peak = this.peakBytes;
    this.peakBytes = 0;
    return peak;
  }

  /** Tells when the log becomes unavailable, and when it is back and has all of the spool. */
  noticeAway(): void {
    const { appenders, queues, spool, onNotice } = this.parts;
    const reason = appenders.find((appender) => appender.away !== null)?.away ?? null;
    const where = spool ? 'the spool' : 'memory';
    if (reason !== null && this.awaySinceMs === null) {
      this.awaySinceMs = performance.now();
      onNotice?.(`the event log is unavailable, events wait in ${where}: ${reason}`);
    } else if (
      reason === null &&
      this.awaySinceMs !== null &&
      queues.every((queue) => queue.numSpooled === 0)
    ) {
      const seconds = ((performance.now() - this.awaySinceMs) / 1000).toFixed(1);
      onNotice?.(`the event log is back after ${seconds} s`);
      this.awaySinceMs = null;
      this.isFull = false;
    }
  }

  /** Moves records of partitions that the log does not take from memory to the spool, as far as there is room; one move at a time. */
  spill(): void {
    if (this.spilling || this.awayQueues.length === 0) return;
    this.spilling = this.spillAll().finally(() => {
      this.spilling = null;
    });
  }

  private async spillAll(): Promise<void> {
    const { spool, maxMemoryBytes, onNotice, onMoved } = this.parts;
    const maxBytes = spool?.maxBytes ?? 0;
    let numBytes: number;
    let reason: string;
    do {
      numBytes = 0;
      reason = spool ? `the spool holds ${this.spoolBytes} of ${maxBytes} bytes` : 'there is no spool';
      for (const queue of this.awayQueues) {
        try {
          numBytes += await queue.spill(maxBytes - this.spoolBytes);
        } catch (error) {
          reason = `the spool can't be written: ${(error as Error).message}`;
        }
      }
      this.peakBytes = Math.max(this.peakBytes, this.spoolBytes);
      if (numBytes > 0) onMoved();
    } while (numBytes > 0);
    if (this.isFull || this.memoryBytes <= maxMemoryBytes) return;
    this.isFull = true;
    onNotice?.(`episodes are paused until the event log is back: ${reason}`);
  }

  /** Queues with records in memory that the log does not take now. */
  private get awayQueues(): readonly PartitionQueue[] {
    const { queues, appenders, closing } = this.parts;
    if (closing.aborted) return [];
    return queues.filter((queue, partition) => appenders[partition].away !== null && queue.hasMemory);
  }
}
