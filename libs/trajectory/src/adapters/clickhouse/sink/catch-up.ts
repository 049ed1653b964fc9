import type { EventLog } from '../../../event-log.js';
import type { Stream } from '../../../events.js';
import type { StoreClient } from '../store-client.js';
import { Sink } from './sink.js';

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
          if (endOffset > 0) await sink.caughtUpTo(stream, partition, endOffset - 1);
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
