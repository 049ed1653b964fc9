import { createHash, type Hash } from 'node:crypto';

/**
 * A run in one file: an Arrow IPC stream, uncompressed, that any Arrow library reads.
 *
 * A row an event, control events first, each stream partition in log order: where it belongs (`stream`, `episode_id`, `seq`), what it is
 * (`kind`, `schema_version`, `id`, `occurred_at`) and the `record` as it lay in the log (docs/decisions/0001-wire-format.md), so
 * that a file of today decodes for ever. Then checkpoint files, cut into rows of kind `_checkpoint` (`id`: SHA-256, `seq`: offset of
 * the bytes in `record`). The last row, of kind `_end`, says in JSON what came before it, with its digest; its `id` is its own.
 */
export const RUN_FILE_FORMAT = 'retrace-run';
export const RUN_FILE_VERSION = 1;

/** Keys of the schema's metadata. */
export const METADATA = {
  format: 'retrace.format',
  version: 'retrace.version',
  runId: 'retrace.runId',
} as const;

export const CHECKPOINT_KIND = '_checkpoint';
export const END_KIND = '_end';

/** One row, in the order of the columns. */
export interface RunFileRow {
  /** `control`, `trajectories`, or empty for rows that are no events. */
  readonly stream: string;
  readonly episodeId: string;
  readonly seq: number;
  readonly kind: string;
  readonly schemaVersion: number;
  readonly id: string;
  readonly occurredAtUs: number;
  readonly record: Uint8Array;
}

/** Content of the last row. */
export interface RunFileEnd {
  readonly runId: string;
  readonly numEvents: number;
  readonly numCheckpointFiles: number;
  /** The run's row hash in the store that it was exported from; null where it was not asked. */
  readonly rowHash: string | null;
  /** Over all rows before the last. */
  readonly sha256: string;
}

/** SHA-256 over rows: whatever a column holds counts, the padding of Arrow's buffers does not. */
export class RowDigest {
  private readonly hash: Hash = createHash('sha256');

  add({ stream, episodeId, seq, kind, schemaVersion, id, occurredAtUs, record }: RunFileRow): void {
    const head = [stream, episodeId, seq, kind, schemaVersion, id, occurredAtUs, record.length];
    this.hash.update(JSON.stringify(head)).update(record);
  }

  finish(): string {
    return this.hash.digest('hex');
  }
}

/** The digest of the last row, whose `id` it is. */
export function digestOfEnd(row: RunFileRow): string {
  const digest = new RowDigest();
  digest.add({ ...row, id: '' });
  return digest.finish();
}
