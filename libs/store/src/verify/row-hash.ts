import type { StoreClient } from '../client/store-client.js';
import { WATERMARK_EPISODE_ID } from '../rows/event-rows.js';

/** Hash of the rows of one run: two stores with equal hashes hold equal rows. */
export interface RunHash {
  /** `''` for the rows that belong to no run: `LogOpened`, retention by age, dead letters. */
  readonly runId: string;
  /** Rows with unlike keys. */
  readonly numRows: number;
  /** 32 hex digits. */
  readonly rowHash: string;
}

export interface RunHashOptions {
  /** Default: every run. */
  readonly runId?: string;
  readonly signal?: AbortSignal;
}

/**
 * Rows are hashed as the bytes of all their columns but the place in the log; an episode (and the control events of a run) as its
 * rows in log order; a run as its episodes. Repeated rows count once and watermarks not at all, for both depend on how
 * batches fell. That the run was deleted before, and imported again, is none of its rows.
 */
const RUN_HASHES = `
  SELECT
    run_id AS runId,
    sum(num_rows) AS numRows,
    lower(hex(sipHash128(arraySort(groupArray(tuple(episode_id, log_stream, episode_hash)))))) AS rowHash
  FROM
  (
    SELECT
      run_id,
      episode_id,
      log_stream,
      count() AS num_rows,
      sipHash128(arrayMap(place -> place.4, arraySort(groupArray(tuple(log_id, log_partition, log_offset, row_hash))))) AS episode_hash
    FROM
    (
      SELECT DISTINCT
        run_id, episode_id, log_id, log_stream, log_partition, log_offset,
        sipHash128(formatRow('RowBinary', * EXCEPT (log_id, log_stream, log_partition, log_offset))) AS row_hash
      FROM events
      WHERE episode_id != '${WATERMARK_EPISODE_ID}' AND kind != 'RunDeleted' AND ({anyRun:UInt8} OR run_id = {runId:String})
    )
    GROUP BY run_id, episode_id, log_stream
  )
  GROUP BY run_id
  ORDER BY run_id`;

/** The row hash of every run, apart from where its records lie in which log. */
export async function readRunHashes(
  client: StoreClient,
  { runId, signal }: RunHashOptions = {},
): Promise<RunHash[]> {
  return client.queryRows<RunHash>(RUN_HASHES, {
    params: { anyRun: runId === undefined ? 1 : 0, runId: runId ?? '' },
    ...(signal && { signal }),
  });
}
