import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import type { Stream } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { hasRecordIn } from './record-ahead.js';
import { Sink } from './sink.js';

/** How often to look whether anything is left that could come. */
const LOOK_MS = 250;

const STREAMS: readonly Stream[] = ['control', 'trajectories'];

/** Carries into the store what the log holds now, and resolves when all of it can be read there. */
export async function catchUp(log: EventLog, client: StoreClient): Promise<void> {
  const caughtUp = new AbortController();
  const sink = new Sink({ lingerMs: 0, minInsertIntervalMs: 0, minControlInsertIntervalMs: 0 });
  const running = sink.run({ log, client, signal: caughtUp.signal });
  try {
    const reachingEnd = Promise.all(
      STREAMS.flatMap((stream) =>
        Array.from({ length: log.numPartitions(stream) }, async (_, partition) => {
          const endOffset = await log.endOffset(stream, partition);
          if (endOffset > 0) await reachEnd(sink, log, { stream, partition, endOffset });
        }),
      ),
    );
    // A sink that fails says why; the waits above only say that it stopped.
    await Promise.race([reachingEnd, running.then(() => reachingEnd)]);
  } finally {
    caughtUp.abort();
    await running;
  }
}

interface PartitionEnd {
  readonly stream: Stream;
  readonly partition: number;
  readonly endOffset: number;
}

/** Resolves when the store holds the last record before the end, which need not be at the offset before it. */
async function reachEnd(
  sink: Sink,
  log: EventLog,
  { stream, partition, endOffset }: PartitionEnd,
): Promise<void> {
  const stop = new AbortController();
  const nothingLeft = async (): Promise<void> => {
    for (;;) {
      await sleep(LOOK_MS, undefined, { signal: stop.signal });
      const { nextOffset } = sink.progressOf(stream, partition);
      if (nextOffset === null) continue;
      if (!(await hasRecordIn(log, { stream, partition, from: nextOffset, end: endOffset }))) return;
    }
  };
  const looking = nothingLeft();
  looking.catch(() => undefined);
  try {
    await Promise.race([sink.caughtUpTo(stream, partition, endOffset - 1, { signal: stop.signal }), looking]);
  } finally {
    stop.abort();
  }
}
