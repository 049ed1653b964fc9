import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { ElementRows } from './element-rows.js';
import { LineRows } from './line-rows.js';
import { findPacking, isDamage, unpackedName } from './packing.js';
import { readParquetRows } from './parquet-rows.js';
import { withoutMark } from './parse-row.js';
import type { RowRead } from './row.js';

const CHUNK_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 256 * 1024;

/** How the rows of a file are laid out. */
export type RowLayout = 'lines' | 'elements' | 'parquet';

/** Endings of names of files with rows. */
const ROW_FILE_ENDINGS = ['.json', '.jsonl', '.ndjson', '.parquet'];

/** Whether a file is called like one with rows, compressed or not. */
export function isRowFileName(name: string): boolean {
  return ROW_FILE_ENDINGS.some((ending) => unpackedName(name).endsWith(ending));
}

/**
 * Says how a file's rows are laid out, by its name and its first bytes.
 *
 * @throws RowFileError for what is no file
 */
export async function findRowLayout(path: string): Promise<RowLayout> {
  const name = unpackedName(path);
  const start = await readStart(path);
  if (name.endsWith('.parquet') || start.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  if (name.endsWith('.jsonl') || name.endsWith('.ndjson')) return 'lines';
  const text = withoutMark(start).toString('utf8');
  if (/^\s*\[/.test(text)) return 'elements';
  return isWholeJson(text.trimStart().split('\n', 1)[0]) ? 'lines' : 'elements';
}

/**
 * Reads a file's rows. Never throws for what the file contains: what can't be read is a broken row.
 *
 * @param columns of a Parquet file; null = all
 * @throws RowFileError for what is no file
 */
export async function* openRows(
  path: string,
  layout: RowLayout,
  columns: readonly string[] | null,
): AsyncGenerator<RowRead> {
  const packing = await findPacking(path);
  if (packing !== null && (packing.unpack === null || layout === 'parquet')) {
    const detail = `the file is compressed with ${packing.name}; unpack it first`;
    yield { number: 0, code: 'UNREADABLE', detail };
    return;
  }
  if (layout === 'parquet') {
    yield* readParquetRows(path, columns);
    return;
  }
  const rows = layout === 'lines' ? new LineRows() : new ElementRows();
  try {
    for await (const chunk of openBytes(path)) yield* rows.push(chunk);
    yield* rows.end();
  } catch (error) {
    if (!isDamage(error)) throw error;
    yield* rows.end();
    yield { number: 0, code: 'CUT', detail: `the compressed file is damaged or cut off: ${error.message}` };
  }
}

/**
 * Opens a file's bytes, unpacked if this Node can and they are not wanted as stored.
 *
 * @throws RowFileError for what is no file
 */
export async function* openBytes(path: string, { asStored = false } = {}): AsyncGenerator<Buffer> {
  const packing = await findPacking(path);
  const bytes = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (asStored || packing === null || packing.unpack === null) yield* bytes as AsyncIterable<Buffer>;
  else {
    const unpacked = packing.unpack({ chunkSize: CHUNK_BYTES });
    pipeline(bytes, unpacked, () => undefined);
    yield* unpacked as AsyncIterable<Buffer>;
  }
}

async function readStart(path: string): Promise<Buffer> {
  try {
    for await (const chunk of openBytes(path)) return chunk.subarray(0, SAMPLE_BYTES);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return Buffer.alloc(0);
}

function isWholeJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
