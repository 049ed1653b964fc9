import type { EventLog, LogRecord } from '@retrace/log';
import type { DeletedRuns } from '@retrace/trajectory';
import { peekEnvelope } from '@retrace/trajectory/codec';
import type { Admission } from '../admission/admission.js';
import { PartitionAdmission } from '../admission/partition-admission.js';
import { insertBatch } from '../batch/insert-batch.js';
import { PendingBatch } from '../batch/pending-batch.js';
import { TimeSlice } from '../batch/time-slice.js';
import type { StoreClient } from '../client/store-client.js';
import type { StreamPartition } from '../rows/stream-partition.js';

export interface ProjectRecords {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly position: StreamPartition;
  /** Offsets [fromOffset, endOffset) are projected. */
  readonly fromOffset: number;
  readonly endOffset: number;
  /** Runs whose records get no rows. */
  readonly deletedRuns: DeletedRuns;
  /** Only the records of this run; default: all. */
  readonly runId?: string;
  readonly signal?: AbortSignal;
}

const SLICE = { maxRecords: 20_000, maxBytes: 16 * 1024 * 1024 };

/**
 * Inserts the rows of a range of the log, whatever the store has of it already. Unlike the sink it neither asks the store where to
 * begin nor leaves watermarks. Returns the number of rows.
 *
 * @throws StoreError; LogError; the reason of `signal` when it aborts
 */
export async function projectRecords({
  log,
  client,
  position,
  fromOffset,
  endOffset,
  deletedRuns,
  runId,
  signal,
}: ProjectRecords): Promise<number> {
  const { stream, partition } = position;
  const { maxEventBytes } = log;
  const admission = new PartitionAdmission({ client, position, maxEventBytes, deletedRuns });
  let numRows = 0;
  let next = fromOffset;
  while (next < endOffset) {
    signal?.throwIfAborted();
    const read = await log.read(stream, partition, next, SLICE);
    if (read.length === 0) break;
    next = read[read.length - 1].offset + 1;
    const records = read.filter(
      ({ offset, bytes }) =>
        offset < endOffset && (runId === undefined || peekEnvelope(bytes)?.runId === runId),
    );
    const batch = new PendingBatch(position, admission);
    await appendAll(batch, records, admission);
    if (batch.numRows === 0) continue;
    numRows += batch.numRows;
    await insertBatch(client, batch.finish({ withWatermark: false }));
    admission.stored(next);
  }
  return numRows;
}

async function appendAll(
  batch: PendingBatch,
  records: readonly LogRecord[],
  admission: Admission,
): Promise<void> {
  const slice = new TimeSlice();
  for (const [i, record] of records.entries()) {
    while (batch.append(record).kind === 'retry') await admission.learn(records.slice(i));
    if (slice.isOver) await slice.next();
  }
}
