import { setTimeout as sleep } from 'node:timers/promises';
import { announceReader, type EventLog } from '@retrace/log';
import type { StoreClient } from '../client/store-client.js';
import { hasRecordIn } from '../position/backlog.js';
import { readNextOffset } from '../position/store-position.js';
import type { StreamPartition } from '../rows/stream-partition.js';

const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 200;
/** After so long without progress the log is asked whether any record is left, which offsets do not tell. */
const QUIET_MS = 500;

/** Follows how far the store is in one stream partition, for readers that need all rows before an offset. */
export class StoredPosition {
  private nextOffset = 0;
  private readonly position: StreamPartition;

  constructor(
    private readonly log: EventLog,
    private readonly client: Pick<StoreClient, 'queryRows' | 'layout'>,
    { stream, partition }: Pick<StreamPartition, 'stream' | 'partition'>,
  ) {
    this.position = { logId: log.logId, stream, partition };
  }

  /**
   * Resolves with true once the store has every record before `end`, without a query where that is known already; with false after
   * `timeoutMs`.
   *
   * @throws StoreError; LogError
   */
  async reaches(end: number, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    let progressedMs = performance.now();
    let isAnnounced = false;
    for (let pollMs = FIRST_POLL_MS; this.nextOffset < end; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
      const nextOffset = await readNextOffset(this.client, this.position);
      if (nextOffset > this.nextOffset) progressedMs = performance.now();
      this.nextOffset = Math.max(this.nextOffset, nextOffset);
      if (this.nextOffset >= end) return true;
      if (!isAnnounced) await announceReader(this.log, { ...this.position, end });
      isAnnounced = true;
      const now = performance.now();
      const isQuiet = now - progressedMs > QUIET_MS;
      if (isQuiet && !(await hasRecordIn(this.log, { ...this.position, from: nextOffset, end }))) return true;
      if (now > deadlineMs) return false;
      await sleep(pollMs);
    }
    return true;
  }
}
