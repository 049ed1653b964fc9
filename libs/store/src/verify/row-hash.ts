import {
  EVENT_FIELDS,
  EVENT_KINDS,
  type EventFields,
  type EventKind,
  SCHEMA_VERSIONS,
} from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { MADE } from '../rows/column-fit.js';
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

interface AddedColumns {
  readonly kind: EventKind;
  readonly version: number;
  readonly columns: readonly string[];
}

/** The columns that each schema version of a kind added, without versions that added none. */
const ADDED_COLUMNS: readonly AddedColumns[] = EVENT_KINDS.flatMap((kind) => {
  const fields = Object.values<EventFields[string]>(EVENT_FIELDS[kind]);
  return Array.from({ length: SCHEMA_VERSIONS[kind] }, (_, v) => ({
    kind,
    version: v + 1,
    columns: fields.flatMap(({ column, added }) => (added?.since === v + 1 ? (column ?? []) : [])),
  })).filter(({ columns }) => columns.length > 0);
});

/** Columns of recorded runs were added together: a row that uses one is hashed with all of them, those of other kinds too. */
const isOfRecordedRuns = ({ kind, version }: AddedColumns): boolean =>
  (kind === 'EpisodeStarted' || kind === 'StepRecorded') && version === 2;

/** Lists of columns that were added to the table later, each of which counts only in rows that use one of them; in the order of the table. */
const LATER_COLUMNS = [
  ADDED_COLUMNS.filter(isOfRecordedRuns).flatMap(({ columns }) => [...columns, 'action_valid_unknown']),
  ...ADDED_COLUMNS.filter((added) => !isOfRecordedRuns(added)).map(({ columns }) => columns),
  ['update_token_places', 'update_token_figures'],
].map((columns) => Object.keys(MADE).filter((column) => columns.includes(column)));

const HASHED_VERSIONS = new Map<string, number>();
/** `RunStarted` of version 2 has its fields in the JSON text, which leaves them out where a run doesn't use them. */
for (const { kind, version } of [{ kind: 'RunStarted', version: 2 }, ...ADDED_COLUMNS]) {
  const before = version - 1;
  HASHED_VERSIONS.set(`('${kind}', ${version})`, HASHED_VERSIONS.get(`('${kind}', ${before})`) ?? before);
}

const VERSION_CASES = [...HASHED_VERSIONS]
  .map(([of, as]) => `(kind, schema_version) = ${of}, ${as}`)
  .join(', ');

const bytesOf = (columns: readonly string[]): string => `formatRow('RowBinary', ${columns.join(', ')})`;

const isUnused = (column: string): string => `${column} = defaultValueOfTypeName(toTypeName(${column}))`;

/**
 * The bytes of a row. Columns that were added later count only in rows that use them, and the schema version of an event that was lifted is the one it
 * was written with, so that the hash of an earlier version, which a run file may hold, is still that of the same rows.
 */
const ROW = `concat(
  formatRow('RowBinary', * EXCEPT (log_id, log_stream, log_partition, log_offset, untrainable, ${LATER_COLUMNS.flat().join(', ')}) REPLACE (
    toUInt16(multiIf(${VERSION_CASES}, schema_version)) AS schema_version)),
  ${LATER_COLUMNS.map((columns) => `if(${columns.map(isUnused).join(' AND ')}, '', ${bytesOf(columns)})`).join(',\n  ')})`;

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
