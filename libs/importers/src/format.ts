import { hash } from 'node:crypto';
import type { Skip } from './skip.js';
import type { PlacedRow } from './rows/group-rows.js';
import type { WireRecord } from '@retrace/recording';

/** Names of the formats that `retrace import --format` takes, beside the run file. */
export type FormatName =
  | 'otlp'
  | 'atif'
  | 'agent-lightning'
  | 'agent-lightning-events'
  | 'langfuse'
  | 'verl'
  | 'agentgym'
  | 'sharegpt'
  | 'openai-chat';

/** Episodes of a row or a group of rows, and the parts of it that were left out. */
export interface Mapped {
  /** Records of one episode each: its start first, its end before rewards that came later. */
  readonly episodes: readonly (readonly WireRecord[])[];
  readonly skipped: readonly Skip[];
}

/** The mapping of one format: pure, and without reading or writing. */
export interface ImportFormat {
  readonly name: FormatName;
  readonly description: string;
  /** Whether a row looks like one of this format. */
  detects(row: unknown): boolean;
  /** Columns to read of a Parquet file; null = all. */
  readonly parquetColumns: readonly string[] | null;
  /** Splits a row into the parts that are grouped, such as the spans of an export request; a missing one = the row itself. */
  expand?(row: unknown): readonly unknown[];
  /** Key of the episode that the row is a part of; null where each row is an episode by itself. */
  readonly keyOf: ((row: unknown) => string | null) | null;
  /**
   * Turns rows into episodes; one row, or those of one key in the order of the dump.
   *
   * @throws RowFault when nothing can be taken
   */
  map(rows: readonly PlacedRow[], origin: RowOrigin): Mapped;
}

/** Where rows come from, for ids that are the same whenever the file is imported. */
export interface RowOrigin {
  /** First 12 hexadecimal digits of the hash of the file's content; '' for rows of several files. */
  readonly fileId: string;
}

/** Id of the episode that a row without id of its own becomes. */
export function rowEpisodeId(origin: RowOrigin, row: PlacedRow): string {
  return `${origin.fileId}/${row.number}`;
}

/** Longest name that is used as it is; the rest of a record's limit is for the names of sub-agents. */
const MAX_NAME_LENGTH = 128;

/** Makes a name of an episode of an id that a source gave: the id, or its hash where it is too long. */
export function episodeName(id: string): string {
  return id.length <= MAX_NAME_LENGTH ? id : `sha256:${hash('sha256', id, 'hex')}`;
}
