import { setImmediate } from 'node:timers/promises';
import { partitionOf, type AnyEvent, type EventLog } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';

export interface TrajectoryWriterOptions {
  /** A partition's buffer is handed to the log when it holds this many bytes … */
  readonly maxBatchBytes?: number;
  /** … or, between turns, when its oldest event has waited this long. */
  readonly lingerMs?: number;
  /** Turns wait once this many bytes are not yet acknowledged: back-pressure on the rollouts. */
  readonly maxUnacknowledgedBytes?: number;
}

interface Buffer {
  records: Uint8Array[];
  sizeBytes: number;
  /** When the oldest record came, on `performance.now()`'s clock. */
  sinceMs: number;
}

/**
 * Batches episode events per partition into appends. `flush` resolves when all that was written is acknowledged by the
 * log. A failed append is final: the next call rejects with its error, and the collector starts the round again.
 */
export class TrajectoryWriter {
  private readonly buffers: Buffer[];
  private readonly inFlight = new Set<Promise<unknown>>();
  private unacknowledgedBytes = 0;
  private failure: Error | null = null;
  private readonly maxBatchBytes: number;
  private readonly lingerMs: number;
  private readonly maxUnacknowledgedBytes: number;
  /** Seconds that rollouts waited for the log. */
  waitedSeconds = 0;

  constructor(
    private readonly log: EventLog,
    options: TrajectoryWriterOptions = {},
  ) {
    this.maxBatchBytes = options.maxBatchBytes ?? 256 * 1024;
    this.lingerMs = options.lingerMs ?? 25;
    this.maxUnacknowledgedBytes = options.maxUnacknowledgedBytes ?? 32 * 1024 * 1024;
    this.buffers = Array.from({ length: log.numPartitions('trajectories') }, emptyBuffer);
  }

  write(event: AnyEvent): void {
    const partition = partitionOf(event.runId, event.episodeId, this.buffers.length);
    const buffer = this.buffers[partition];
    const bytes = encodeEvent(event);
    if (buffer.records.length === 0) buffer.sinceMs = performance.now();
    buffer.records.push(bytes);
    buffer.sizeBytes += bytes.length;
    if (buffer.sizeBytes >= this.maxBatchBytes) this.send(partition);
  }

  /**
   * Call between turns: hands over what has waited long enough, and lets the log work at it, which a policy that computes
   * from turn to turn would not. Resolves soon, unless too much is unacknowledged.
   */
  async betweenTurns(): Promise<void> {
    const due = performance.now() - this.lingerMs;
    this.buffers.forEach(({ records, sinceMs }, partition) => {
      if (records.length > 0 && sinceMs <= due) this.send(partition);
    });
    if (this.inFlight.size > 0) await setImmediate();
    while (this.unacknowledgedBytes > this.maxUnacknowledgedBytes) {
      const started = performance.now();
      await Promise.race(this.inFlight);
      this.waitedSeconds += (performance.now() - started) / 1000;
    }
    this.throwIfFailed();
  }

  /** Resolves when everything written so far is acknowledged. */
  async flush(): Promise<void> {
    const started = performance.now();
    this.buffers.forEach((_, partition) => {
      this.send(partition);
    });
    await Promise.all(this.inFlight);
    this.waitedSeconds += (performance.now() - started) / 1000;
    this.throwIfFailed();
  }

  private send(partition: number): void {
    const { records, sizeBytes } = this.buffers[partition];
    if (records.length === 0) return;
    this.buffers[partition] = emptyBuffer();
    this.unacknowledgedBytes += sizeBytes;
    const append = this.log
      .append('trajectories', partition, records)
      .catch((error: unknown) => {
        this.failure ??= error as Error;
      })
      .finally(() => {
        this.unacknowledgedBytes -= sizeBytes;
        this.inFlight.delete(append);
      });
    this.inFlight.add(append);
  }

  private throwIfFailed(): void {
    if (this.failure) throw this.failure;
  }
}

function emptyBuffer(): Buffer {
  return { records: [], sizeBytes: 0, sinceMs: 0 };
}
