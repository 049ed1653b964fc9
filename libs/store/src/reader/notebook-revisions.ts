import type { NotebookCell } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';

/** A revision of a notebook that counts: the first of its number in log order. */
export interface NotebookRevision {
  readonly kind: 'NotebookSaved' | 'NotebookDeleted';
  readonly eventId: string;
  readonly revision: number;
  /** Empty, as the cells, in one that deleted the notebook. */
  readonly title: string;
  readonly cells: readonly NotebookCell[];
}

type Row = Omit<NotebookRevision, 'cells'> & { readonly cells: string };

const IS_NOTEBOOK = `run_id = '' AND episode_id = '' AND kind IN ('NotebookSaved', 'NotebookDeleted')`;

/** Reads the newest revision of a notebook, or the one with that number; null where there is none. @throws StoreError */
export async function readNotebookRevision(
  client: StoreClient,
  notebookId: string,
  revision: number | null = null,
): Promise<NotebookRevision | null> {
  const [row] = await client.queryRows<Row | undefined>(
    `SELECT kind, toString(event_id) AS eventId, JSONExtractUInt(payload, 'revision') AS revision,
       JSONExtractString(payload, 'title') AS title, JSONExtractRaw(payload, 'cells') AS cells
     FROM events
     WHERE ${IS_NOTEBOOK} AND event_id = (
       SELECT event_id FROM events
       WHERE ${IS_NOTEBOOK} AND JSONExtractString(payload, 'notebookId') = {notebookId:String}
         AND ({revision:UInt64} = 0 OR JSONExtractUInt(payload, 'revision') = {revision:UInt64})
       ORDER BY JSONExtractUInt(payload, 'revision') DESC, log_id, log_stream, log_partition, log_offset
       LIMIT 1)
     LIMIT 1`,
    { params: { notebookId, revision: revision ?? 0 }, settings: client.layout.positionSettings },
  );
  if (row === undefined) return null;
  return { ...row, cells: row.cells === '' ? [] : (JSON.parse(row.cells) as NotebookCell[]) };
}
