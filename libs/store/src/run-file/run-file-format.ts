import { createHash, type Hash } from 'node:crypto';

/**
 * A run in one file: an Arrow IPC stream, uncompressed, that any Arrow library reads.
 *
 * There is one row for each event, control events first, each stream partition in log order: its place (`stream`, `episode_id`, `seq`), its
 * kind and identity (`kind`, `schema_version`, `id`, `occurred_at`) and the `record` exactly as in the log
 * (docs/decisions/0001-wire-format.md), so that later versions can decode it. Then come checkpoint files, split into rows of kind
 * `_checkpoint` (`id`: SHA-256, `seq`: offset of the bytes in `record`). The last row, of kind `_end`, lists in JSON how many rows came before
 * it and their digest; its `id` is its own digest.
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

/** The content of the last row. */
export interface RunFileEnd {
  readonly runId: string;
  readonly numEvents: number;
  readonly numCheckpointFiles: number;
  /** The run's row hash in the store that it was exported from; null where none was given. */
  readonly rowHash: string | null;
  /** Over all rows before the last. */
  readonly sha256: string;
}

/** SHA-256 over the values of rows, without the padding of Arrow's buffers. */
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

/** Computes the digest of the last row, which is its `id`. */
export function digestOfEnd(row: RunFileRow): string {
  const digest = new RowDigest();
  digest.add({ ...row, id: '' });
  return digest.finish();
}
