import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ElementRows } from './element-rows.js';
import { LineRows } from './line-rows.js';
import { readParquetRows } from './parquet-rows.js';
import { withoutMark } from './parse-row.js';
import type { RowRead } from './row.js';

const CHUNK_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 256 * 1024;

/** How the rows of a file are laid out. */
export type RowLayout = 'lines' | 'elements' | 'parquet';

/** Endings of files that a directory is searched for. */
export const ROW_FILE_ENDINGS = ['.json', '.jsonl', '.ndjson', '.parquet'];

/** Says how a file's rows are laid out, by its name and its first bytes. */
export async function findRowLayout(path: string): Promise<RowLayout> {
  const name = path.toLowerCase().replace(/\.gz$/, '');
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
 */
export async function* openRows(
  path: string,
  layout: RowLayout,
  columns: readonly string[] | null,
): AsyncGenerator<RowRead> {
  if (layout === 'parquet') {
    yield* readParquetRows(path, columns);
    return;
  }
  const rows = layout === 'lines' ? new LineRows() : new ElementRows();
  try {
    for await (const chunk of openBytes(path)) yield* rows.push(chunk);
    yield* rows.end();
  } catch (error) {
    if (!isDamagedGzip(error)) throw error;
    yield* rows.end();
    yield { number: 0, code: 'CUT', detail: `the compressed file is damaged: ${error.message}` };
  }
}

/** Opens a file's bytes, unpacked if its name ends in `.gz` and they are not wanted as stored. */
export function openBytes(path: string, { asStored = false } = {}): AsyncIterable<Buffer> {
  const bytes = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (asStored || !path.toLowerCase().endsWith('.gz')) return bytes;
  const unzip = createGunzip({ chunkSize: CHUNK_BYTES });
  pipeline(bytes, unzip, () => undefined);
  return unzip;
}

async function readStart(path: string): Promise<Buffer> {
  if (path.toLowerCase().endsWith('.gz')) {
    try {
      for await (const chunk of openBytes(path)) return chunk.subarray(0, SAMPLE_BYTES);
    } catch (error) {
      if (!isDamagedGzip(error)) throw error;
    }
    return Buffer.alloc(0);
  }
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function isWholeJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function isDamagedGzip(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}
