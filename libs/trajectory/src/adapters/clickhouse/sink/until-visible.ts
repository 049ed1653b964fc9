import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '../../../event-log.js';
import type { Stream } from '../../../events.js';
import type { StoreClient } from '../store-client.js';
import { catchUp } from './catch-up.js';
import { readNextOffset } from './store-position.js';

const STREAMS: readonly Stream[] = ['control', 'trajectories'];
const POLL_MS = 50;

/**
 * Resolves when a sink elsewhere has brought into the store what the log holds now. Where nothing comes for `stallMs` no sink runs,
 * and the rest is brought here.
 */
export async function untilVisible(
  log: EventLog,
  client: StoreClient,
  { stallMs = 10_000 }: { readonly stallMs?: number } = {},
): Promise<void> {
  const ends = await Promise.all(
    STREAMS.flatMap((stream) =>
      Array.from({ length: log.numPartitions(stream) }, async (_, partition) => ({
        position: { logId: log.logId, stream, partition },
        endOffset: await log.endOffset(stream, partition),
      })),
    ),
  );
  let lastLag = Infinity;
  let movedMs = performance.now();
  for (;;) {
    let lag = 0;
    for (const { position, endOffset } of ends) {
      lag += Math.max(0, endOffset - (await readNextOffset(client, position)));
    }
    if (lag === 0) return;
    if (lag < lastLag) movedMs = performance.now();
    lastLag = lag;
    if (performance.now() - movedMs > stallMs) return catchUp(log, client);
    await sleep(POLL_MS);
  }
}
