import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import type { RowRead } from './row.js';
import { exactInteger } from './written-json.js';

/** Rows that are decoded at a time. A reader decodes their row group from its start each time, so few pieces matter more than small ones. */
const ROWS_AT_ONCE = 50_000;

/** Largest row group that is read, bytes of its columns that are read, before compression. A reader has to hold one as a whole. */
const MAX_ROW_GROUP_BYTES = 192 * 1024 * 1024;

/**
 * Reads the rows of a Parquet file, row group by row group. A row group that can't be read is one broken row that says which rows it
 * had; a file without a whole footer can't be read at all.
 *
 * @param columns names of the top-level columns to read, of which those are read that the file has; null = all
 */
export async function* readParquetRows(
  path: string,
  columns: readonly string[] | null,
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
      detail: `the Parquet file is damaged or cut off: it has no readable footer: ${reasonOf(error)}`,
    };
    return;
  }
  const present = columnNames(metadata);
  const wanted = columns === null ? present : present.filter((name) => columns.includes(name));
  let first = 0;
  for (const group of metadata.row_groups) {
    const numRows = Number(group.num_rows);
    const sizeBytes = sizeOfColumns(group, wanted);
    if (sizeBytes > MAX_ROW_GROUP_BYTES) {
      const detail = `rows ${first + 1} to ${first + numRows} are one row group of ${sizeBytes} bytes; at most ${MAX_ROW_GROUP_BYTES} are read`;
      yield { number: first + 1, code: 'TOO_LARGE', detail };
    } else {
      yield* readRowGroup({ file, metadata, columns: wanted }, first, first + numRows);
    }
    first += numRows;
  }
}

interface OpenFile {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly string[];
}

async function* readRowGroup(open: OpenFile, first: number, end: number): AsyncGenerator<RowRead> {
  const { file, metadata, columns } = open;
  const { parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  for (let start = first; start < end; start += ROWS_AT_ONCE) {
    const rowEnd = Math.min(end, start + ROWS_AT_ONCE);
    let rows: Record<string, unknown>[];
    try {
      const range = { rowStart: start, rowEnd, columns: [...columns] };
      rows = await parquetReadObjects({ file, metadata, compressors, ...range });
    } catch (error) {
      const detail = `rows ${start + 1} to ${rowEnd} can't be read: ${reasonOf(error)}`;
      yield { number: start + 1, code: 'UNREADABLE', detail };
      continue;
    }
    for (const [index, row] of rows.entries()) yield { number: start + index + 1, value: plain(row) };
  }
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

function sizeOfColumns(group: FileMetaData['row_groups'][number], names: readonly string[]): number {
  return group.columns
    .filter(({ meta_data: data }) => data !== undefined && names.includes(data.path_in_schema[0]))
    .reduce((sum, { meta_data: data }) => sum + Number(data?.total_uncompressed_size ?? 0), 0);
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason';
}
