import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import type { Stream } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { catchUp } from './catch-up.js';
import { hasRecordIn } from './record-ahead.js';
import { readNextOffset } from './store-position.js';

const STREAMS: readonly Stream[] = ['control', 'trajectories'];
const POLL_MS = 50;
/** Where nothing came for so long, see whether anything is left that could come. */
const LOOK_MS = 500;

/** Whether the store has all trajectory records that the log holds at the time of the call. */
export async function isUpToDate(log: EventLog, client: StoreClient): Promise<boolean> {
  const stream = 'trajectories';
  for (let partition = 0; partition < log.numPartitions(stream); partition++) {
    const end = await log.endOffset(stream, partition);
    const from = await readNextOffset(client, { logId: log.logId, stream, partition });
    if (await hasRecordIn(log, { stream, partition, from, end })) return false;
  }
  return true;
}

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
    let isRecordLeft = false;
    const looks = performance.now() - movedMs > LOOK_MS;
    for (const { position, endOffset } of ends) {
      const nextOffset = await readNextOffset(client, position);
      lag += Math.max(0, endOffset - nextOffset);
      isRecordLeft ||= !looks || (await hasRecordIn(log, { ...position, from: nextOffset, end: endOffset }));
    }
    if (lag === 0 || !isRecordLeft) return;
    if (lag < lastLag) movedMs = performance.now();
    lastLag = lag;
    if (performance.now() - movedMs > stallMs) return catchUp(log, client);
    await sleep(POLL_MS);
  }
}
