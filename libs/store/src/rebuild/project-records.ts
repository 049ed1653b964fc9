import type { EventLog } from '@retrace/log';
import type { DeletedRuns } from '@retrace/trajectory';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { PartitionAdmission } from '../admission/partition-admission.js';
import { insertBatch } from '../batch/insert-batch.js';
import { PendingBatch } from '../batch/pending-batch.js';
import { TimeSlice } from '../batch/time-slice.js';
import type { StoreClient } from '../client/store-client.js';
import type { StreamPartition } from '../position/stream-partition.js';
import { isDeleted } from '../retention/deletion-watch.js';

export interface ProjectRecords {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly position: StreamPartition;
  readonly fromOffset: number;
  /** Up to the record before it. */
  readonly endOffset: number;
  /** Their records have no rows. */
  readonly deletedRuns: DeletedRuns;
  /** Only the records of this run; default: all. */
  readonly runId?: string;
  readonly signal?: AbortSignal;
}

const SLICE = { maxRecords: 20_000, maxBytes: 16 * 1024 * 1024 };

/**
 * Inserts the rows of a stretch of the log, whatever the store holds of it. Unlike the sink it neither asks the store where to
 * begin nor leaves watermarks. Returns the number of rows.
 */
export async function projectRecords(job: ProjectRecords): Promise<number> {
  const { log, client, position, endOffset, deletedRuns, runId, signal } = job;
  const { stream, partition } = position;
  const admission = new PartitionAdmission({ client, position, maxEventBytes: log.maxEventBytes });
  let numRows = 0;
  let next = job.fromOffset;
  while (next < endOffset) {
    signal?.throwIfAborted();
    const read = await log.read(stream, partition, next, SLICE);
    if (read.length === 0) break;
    next = read[read.length - 1].offset + 1;
    const records = read.filter(
      (record) =>
        record.offset < endOffset &&
        (runId === undefined || peekEnvelope(record.bytes)?.runId === runId) &&
        !isDeleted(record, position, deletedRuns),
    );
    if (records.length === 0) continue;
    const batch = new PendingBatch(position, admission);
    const slice = new TimeSlice();
    for (const [i, record] of records.entries()) {
      while (!batch.append(record)) await admission.learn(records.slice(i));
      if (slice.isOver) await slice.next();
    }
    await insertBatch(client, batch.finish({ withWatermark: false }));
    admission.stored(next);
    numRows += records.length;
  }
  return numRows;
}
