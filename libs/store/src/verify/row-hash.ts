import type { StoreClient } from '../client/store-client.js';
import { WATERMARK_EPISODE_ID } from '../rows/event-rows.js';
import { IS_DELETION } from '../rows/rows-of-run.js';

/** A hash of all rows of a run: two stores with equal hashes hold equal rows. */
export interface RunHash {
  /** `''` for the rows that belong to no run: `LogOpened`, retention by age, dead letters. */
  readonly runId: string;
  /** Rows with different keys. */
  readonly numRows: number;
  /** 32 hex digits. */
  readonly rowHash: string;
}

export interface RunHashOptions {
  /** Default: every run. */
  readonly runId?: string;
  readonly signal?: AbortSignal;
}

/** The columns that migration 0004 added, but for `untrainable`, which follows from others. */
const RECORDED_COLUMNS =
  'external_id, parent_episode_id, tags, metadata, action_valid_unknown, messages, usage';

/** The columns that were added for `UpdateTokensTraced`. */
const UPDATE_TOKEN_COLUMNS = 'update_token_places, update_token_figures';

/**
 * The bytes of a row. Columns that a migration added count only in rows that use them, and the schema version of an event that was lifted
 * is the one it was written with, so that the hash of an earlier version, which a run file may hold, is still that of the same rows.
 */
const ROW = `concat(
  formatRow('RowBinary', * EXCEPT (log_id, log_stream, log_partition, log_offset, untrainable, forked_from_run_id, token_routed_experts, ${RECORDED_COLUMNS}, ${UPDATE_TOKEN_COLUMNS}) REPLACE (
    toUInt16(multiIf(
      (kind, schema_version) IN (('RunStarted', 2), ('EpisodeStarted', 2), ('EpisodeStarted', 3), ('StepRecorded', 2)), 1,
      (kind, schema_version) = ('StepRecorded', 4), 3,
      schema_version)) AS schema_version)),
  if(
    external_id = '' AND parent_episode_id = '' AND empty(tags) AND metadata = '' AND NOT action_valid_unknown AND messages = '' AND empty(usage),
    '',
    formatRow('RowBinary', ${RECORDED_COLUMNS})),
  if(forked_from_run_id = '', '', formatRow('RowBinary', forked_from_run_id)),
  if(empty(update_token_places), '', formatRow('RowBinary', ${UPDATE_TOKEN_COLUMNS})),
  if(empty(token_routed_experts), '', formatRow('RowBinary', token_routed_experts)))`;

/**
 * A row is hashed as the bytes of all its columns except its place in the log, an episode (and the control events of a run) as its rows in
 * log order, a run as its episodes. Repeated rows count once and watermarks not at all, because both depend on batches. Earlier deletions
 * of the run do not count.
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
        sipHash128(${ROW}) AS row_hash
      FROM events
      WHERE episode_id != '${WATERMARK_EPISODE_ID}' AND NOT ${IS_DELETION} AND ({anyRun:UInt8} OR run_id = {runId:String})
    )
    GROUP BY run_id, episode_id, log_stream
  )
  GROUP BY run_id
  ORDER BY run_id`;

/** Reads the row hash of every run, which is independent of the places of its records in the log. */
export async function readRunHashes(
  client: StoreClient,
  { runId, signal }: RunHashOptions = {},
): Promise<RunHash[]> {
  return client.queryRows<RunHash>(RUN_HASHES, {
    params: { anyRun: runId === undefined ? 1 : 0, runId: runId ?? '' },
    ...(signal && { signal }),
  });
}
