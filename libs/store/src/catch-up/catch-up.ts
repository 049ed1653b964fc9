import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import type { StoreClient } from '../client/store-client.js';
import { hasRecordIn } from '../position/backlog.js';
import { type StreamPartition, listStreamPartitions } from '../rows/stream-partition.js';
import { Sink } from '../sink/sink.js';
import type { SinkOptions } from '../sink/sink-options.js';

/** How often the log is asked whether any record is left. */
const LOOK_MS = 250;

/** Inserts what is there without waiting for more. */
const AT_ONCE: SinkOptions = { lingerMs: 0, minInsertIntervalMs: 0, minControlInsertIntervalMs: 0 };

/**
 * Writes into the store what the log holds now, and resolves when all of it can be read there.
 *
 * @throws StoreError or LogError that no retry can mend
 */
export async function catchUp(log: EventLog, client: StoreClient): Promise<void> {
  const sink = BackgroundSink.start(log, client, AT_ONCE);
  try {
    await sink.caughtUp();
  } finally {
    await sink.stop();
  }
}

/** A sink in this process, for work that appends much to a log that no other sink follows. */
export class BackgroundSink {
  private constructor(
    private readonly log: EventLog,
    private readonly sink: Sink,
    private readonly stopped: AbortController,
    private readonly running: Promise<void>,
  ) {}

  static start(log: EventLog, client: StoreClient, options: SinkOptions = {}): BackgroundSink {
    const stopped = new AbortController();
    const sink = new Sink(options);
    const running = sink.run({ log, client, signal: stopped.signal });
    // Thrown by `caughtUp` and `stop`.
    running.catch(() => undefined);
    return new BackgroundSink(log, sink, stopped, running);
  }

  /**
   * Resolves when all that the log holds now can be read from the store.
   *
   * @throws StoreError or LogError that no retry can mend
   */
  async caughtUp(): Promise<void> {
    const { log, sink, running } = this;
    const reachingEnd = Promise.all(
      listStreamPartitions(log).map(async (position) => {
        const endOffset = await log.endOffset(position.stream, position.partition);
        if (endOffset > 0) await reachEnd(sink, log, { ...position, endOffset });
      }),
    );
    // A sink that fails says why; the waits above only say that it stopped.
    await Promise.race([reachingEnd, running.then(() => reachingEnd)]);
  }

  /**
   * Finishes the insert under way and ends.
   *
   * @throws as `caughtUp`
   */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }
}

interface PartitionEnd extends StreamPartition {
  readonly endOffset: number;
}

/** Resolves when the store holds the last record before the end, which need not be at the offset before it. */
async function reachEnd(
  sink: Sink,
  log: EventLog,
  { stream, partition, endOffset }: PartitionEnd,
): Promise<void> {
  const stop = new AbortController();
  const untilNothingLeft = async (): Promise<void> => {
    for (;;) {
      await sleep(LOOK_MS, undefined, { signal: stop.signal });
      const { nextOffset } = sink.progressOf(stream, partition);
      if (nextOffset === null) continue;
      if (!(await hasRecordIn(log, { stream, partition, from: nextOffset, end: endOffset }))) return;
    }
  };
  const looking = untilNothingLeft();
  looking.catch(() => undefined);
  try {
    await Promise.race([sink.caughtUpTo(stream, partition, endOffset - 1, { signal: stop.signal }), looking]);
  } finally {
    stop.abort();
  }
}
