import type { EventLog } from './event-log.js';
import { SINK_GROUP } from './stored-position.js';

/** Counts the records of a log that no sink has said the store has; offsets without a record count too. */
export async function countStoreBacklog(log: EventLog): Promise<number> {
  let numRecords = 0;
  for (const stream of ['control', 'trajectories'] as const) {
    for (let partition = 0; partition < log.numPartitions(stream); partition++) {
      const stored = (await log.readCursor(SINK_GROUP, stream, partition)) ?? 0;
      numRecords += Math.max(0, (await log.endOffset(stream, partition)) - stored);
    }
  }
  return numRecords;
}
