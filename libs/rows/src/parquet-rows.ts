import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import { MAX_ROW_BYTES, type RowRead } from './row.js';
import { exactInteger } from './written-json.js';

/** Most rows that are decoded at a time, and most bytes of them before they are objects, which take several times as much. */
const MAX_ROWS_AT_ONCE = 50_000;
const BYTES_AT_ONCE = 24 * 1024 * 1024;
/** Most pieces of a row group, as a reader decodes it from its start for each. */
const MAX_PIECES = 16;

/** Largest row group that is read, bytes of its columns that are read, before compression. A reader has to hold one as a whole. */
const MAX_ROW_GROUP_BYTES = 192 * 1024 * 1024;

/** Most values in a row group. An encoding may write a million equal values in a few bytes, which all become objects. */
const MAX_ROW_GROUP_VALUES = 50_000_000;

/**
 * Reads the rows of a Parquet file, row group by row group. A row group that can't be read is one broken row that says which rows it
 * had, as is a row of more than 32 MiB; a file without a whole footer can't be read at all.
 *
 * @param columns names of the top-level columns to read, of which those are read that the file has; null = all
 */
export async function* readParquetRows(
  path: string,
  columns: readonly string[] | null,
  { maxGroupValues = MAX_ROW_GROUP_VALUES }: { readonly maxGroupValues?: number } = {},
): AsyncGenerator<RowRead> {
  const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet');
  const file = await asyncBufferFromFile(path);
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file);
  } catch (error) {
    yield {
      number: 0,
      code: 'UNREADABLE',
      detail: `the Parquet file is damaged or cut off: it has no readable footer: ${describeReason(error)}`,
    };
    return;
  }
  const present = columnNames(metadata);
  const wanted = columns === null ? present : present.filter((name) => columns.includes(name));
  let first = 0;
  for (const group of metadata.row_groups) {
    const numRows = Number(group.num_rows);
    const { sizeBytes, numValues } = sizeOfColumns(group, wanted);
    if (numValues > maxGroupValues) {
      const detail = `rows ${first + 1} to ${first + numRows} are one row group of ${numValues} values; at most ${maxGroupValues} are read`;
      yield { number: first + 1, code: 'TOO_LARGE', detail };
    } else if (sizeBytes > MAX_ROW_GROUP_BYTES) {
      const detail = `rows ${first + 1} to ${first + numRows} are one row group of ${sizeBytes} bytes; at most ${MAX_ROW_GROUP_BYTES} are read`;
      yield { number: first + 1, code: 'TOO_LARGE', detail };
    } else {
      yield* readRowGroup({ file, metadata, columns: wanted, sizeBytes }, first, first + numRows);
    }
    first += numRows;
  }
}

interface OpenFile {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly string[];
  /** Of the row group, before compression. */
  readonly sizeBytes: number;
}

/** Rows of a row group that are decoded at a time. */
function rowsAtOnce(numRows: number, sizeBytes: number): number {
  const fitting = Math.floor((BYTES_AT_ONCE / Math.max(1, sizeBytes)) * numRows);
  return Math.max(1, Math.min(MAX_ROWS_AT_ONCE, Math.max(fitting, Math.ceil(numRows / MAX_PIECES))));
}

async function* readRowGroup(open: OpenFile, first: number, end: number): AsyncGenerator<RowRead> {
  const { file, metadata, columns, sizeBytes } = open;
  const numAtOnce = rowsAtOnce(end - first, sizeBytes);
  const { parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  for (let start = first; start < end; start += numAtOnce) {
    const rowEnd = Math.min(end, start + numAtOnce);
    let rows: Record<string, unknown>[];
    try {
      const range = { rowStart: start, rowEnd, columns: [...columns] };
      rows = await parquetReadObjects({ file, metadata, compressors, ...range });
    } catch (error) {
      const detail = `rows ${start + 1} to ${rowEnd} can't be read: ${describeReason(error)}`;
      yield { number: start + 1, code: 'UNREADABLE', detail };
      continue;
    }
    for (const [index, row] of rows.entries()) yield parquetRow(row, start + index + 1);
  }
}

function parquetRow(row: Record<string, unknown>, number: number): RowRead {
  const value = plain(row);
  const numBytes = sizeAtMost(value, MAX_ROW_BYTES);
  if (numBytes <= MAX_ROW_BYTES) return { number, value };
  return { number, code: 'TOO_LARGE', detail: `longer than ${MAX_ROW_BYTES} bytes` };
}

/** About the bytes of a value as JSON, or more than `limit`. */
function sizeAtMost(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  for (const [key, item] of Object.entries(value)) {
    size += (Array.isArray(value) ? 1 : key.length + 4) + sizeAtMost(item, limit - size);
    if (size > limit) break;
  }
  return size;
}

function columnNames(metadata: FileMetaData): string[] {
  const [root, ...elements] = metadata.schema;
  const names: string[] = [];
  // The schema is a tree in depth-first order.
  let at = 0;
  const skip = (): void => {
    const numChildren = elements[at++]?.num_children ?? 0;
    for (let child = 0; child < numChildren; child++) skip();
  };
  for (let child = 0; child < (root.num_children ?? 0) && at < elements.length; child++) {
    names.push(elements[at].name);
    skip();
  }
  return names;
}

function sizeOfColumns(group: FileMetaData['row_groups'][number], names: readonly string[]) {
  const columns = group.columns.flatMap(({ meta_data: data }) =>
    data !== undefined && names.includes(data.path_in_schema[0]) ? [data] : [],
  );
  const sum = (values: readonly (bigint | number)[]) =>
    values.reduce<number>((total, value) => total + Number(value), 0);
  return {
    sizeBytes: sum(columns.map((data) => data.total_uncompressed_size)),
    numValues: sum(columns.map((data) => data.num_values)),
  };
}

/** Turns a decoded value into JSON: integers into numbers, or texts where those are not exact, times into ISO texts, bytes into text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return exactInteger(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>, plain);
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function describeReason(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason';
}
