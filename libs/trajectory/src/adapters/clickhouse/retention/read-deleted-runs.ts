import { decodeEvent, peekEnvelope } from '../../../codec/index.js';
import type { EventLog, LogRecord } from '../../../event-log.js';
import type { RetraceEvent, RunDeleted } from '../../../events.js';
import { DeletedRuns } from '../../../fold/deleted-runs.js';
import type { StreamPartition } from '../../arrow/index.js';
import { readNextOffset } from '../sink/store-position.js';
import type { StoreClient } from '../store-client.js';

const ROWS = `
  SELECT run_id AS runId, payload FROM events
  WHERE episode_id = '' AND kind = 'RunDeleted' AND log_id = {logId:String}`;

/** The deletions that a log tells of. Where a client is given, those that its store has rows of are read there. */
export async function readDeletedRuns(log: EventLog, client?: StoreClient): Promise<DeletedRuns> {
  const deleted = new DeletedRuns();
  let next = 0;
  if (client !== undefined) {
    next = await readNextOffset(client, { logId: log.logId, stream: 'control', partition: 0 });
    const rows = await client.queryRows<{ runId: string; payload: string }>(ROWS, {
      params: { logId: log.logId },
    });
    for (const { runId, payload } of rows) {
      deleted.add({ runId, payload: JSON.parse(payload) as RunDeleted } as RetraceEvent<'RunDeleted'>);
    }
  }
  for (;;) {
    const records = await log.read('control', 0, next);
    if (records.length === 0) return deleted;
    next = records[records.length - 1].offset + 1;
    for (const { bytes } of records) {
      if (peekEnvelope(bytes)?.kind !== 'RunDeleted') continue;
      const decoded = decodeEvent(bytes);
      if (decoded.ok && decoded.event.kind === 'RunDeleted') deleted.add(decoded.event);
    }
  }
}

/** Whether a record of this stream partition belongs to a run that was deleted. */
export function isDeleted(
  { offset, bytes }: LogRecord,
  { stream, partition }: StreamPartition,
  deleted: DeletedRuns,
): boolean {
  if (!deleted.reach(stream, partition, offset)) return false;
  const envelope = peekEnvelope(bytes);
  return envelope !== null && deleted.cover(envelope, stream, partition, offset);
}
