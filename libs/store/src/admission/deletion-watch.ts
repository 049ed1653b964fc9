import type { EventLog, LogRecord } from '@retrace/log';
import { DeletedRuns, type Deletion, isDeletionKind } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import type { StoreClient } from '../client/store-client.js';
import { readNextOffset } from '../position/store-position.js';
import type { StreamPartition } from '../rows/stream-partition.js';
import type { RecordOwner } from './admission.js';

const ROWS = `
  SELECT kind, run_id AS runId, payload FROM events
  WHERE episode_id = '' AND kind IN ('RunDeleted', 'EpisodesDeleted') AND log_id = {logId:String}`;

/** The runs and episodes that a log says are deleted, kept up to date by `refresh`. */
export class DeletionWatch {
  /** As of the last `refresh`. */
  readonly runs = new DeletedRuns();
  private nextOffset = 0;
  private reading: Promise<void> = Promise.resolve();

  private constructor(private readonly log: EventLog) {}

  /** @param client a store from which the deletions that it has rows of are read, instead of from the log */
  static async open(log: EventLog, client?: StoreClient): Promise<DeletionWatch> {
    const watch = new DeletionWatch(log);
    if (client !== undefined) await watch.readRows(client);
    await watch.refresh();
    return watch;
  }

  /** Reads what is new in the log. When it resolves, every deletion that was acknowledged before the call is known. */
  refresh(): Promise<void> {
    const read = this.reading.then(() => this.readOn());
    this.reading = read.catch(() => undefined);
    return read;
  }

  private async readRows(client: StoreClient): Promise<void> {
    const { logId } = this.log;
    // The position is read first: a deletion that comes in between is read twice, which is harmless.
    const nextOffset = await readNextOffset(client, { logId, stream: 'control', partition: 0 });
    for (const deletion of await readStoredDeletions(client, logId)) this.runs.add(deletion);
    this.nextOffset = nextOffset;
  }

  private async readOn(): Promise<void> {
    const endOffset = await this.log.endOffset('control', 0);
    while (this.nextOffset < endOffset) {
      const records = await this.log.read('control', 0, this.nextOffset);
      if (records.length === 0) return;
      for (const { bytes } of records) {
        if (!isDeletionKind(peekEnvelope(bytes)?.kind ?? '')) continue;
        const decoded = decodeEvent(bytes);
        if (decoded.ok && isDeletionKind(decoded.event.kind)) this.runs.add(decoded.event as Deletion);
      }
      this.nextOffset = records[records.length - 1].offset + 1;
    }
  }
}

/** Reads the deletions of a log that the store has rows of. */
export async function readStoredDeletions(client: StoreClient, logId: string): Promise<Deletion[]> {
  const rows = await client.queryRows<{ kind: Deletion['kind']; runId: string; payload: string }>(ROWS, {
    params: { logId },
  });
  return rows.map(({ payload, ...row }) => ({ ...row, payload: JSON.parse(payload) as never }));
}

/** Reads which runs and episodes the log says are deleted now. */
export async function readDeletedRuns(log: EventLog): Promise<DeletedRuns> {
  return (await DeletionWatch.open(log)).runs;
}

/**
 * Whether a record of this stream partition belongs to a run or an episode that was deleted.
 *
 * @param known the record's envelope, where it was read already
 */
export function isDeleted(
  { offset, bytes }: LogRecord,
  { stream, partition }: StreamPartition,
  deleted: DeletedRuns,
  known?: RecordOwner,
): boolean {
  if (!deleted.reach(stream, partition, offset)) return false;
  const envelope = known ?? peekEnvelope(bytes);
  return envelope !== null && deleted.cover(envelope, stream, partition, offset);
}
