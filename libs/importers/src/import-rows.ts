import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { type BrokenRow, findRowLayout, isBroken, openBytes, openRows, type RowLayout } from '@retrace/rows';
import type { ImportFormat, Mapped, RowOrigin } from './format.js';
import { detectFormat } from './formats/formats.js';
import { groupRows, type PlacedRow } from './rows/group-rows.js';
import { RowFault, type Skip } from './skip.js';
import type { WireRecord } from '@retrace/recording';

/** A file to import. */
export interface ImportFile {
  /** Where it is. */
  readonly path: string;
  /** Its name in the report, relative to what was asked for. */
  readonly name: string;
}

/** A file whose content is identified. */
export interface IdentifiedFile extends ImportFile {
  /** SHA-256 of its bytes, hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly layout: RowLayout;
}

/** A finding of an import, in the order of the dump: an episode's records, or something that was left out. */
export type Found =
  | {
      readonly kind: 'episode';
      readonly file: string;
      readonly row: number;
      readonly records: readonly WireRecord[];
    }
  | { readonly kind: 'skipped'; readonly file: string; readonly skip: Skip };

/** Rows that a format is detected by. */
const MAX_SAMPLE_ROWS = 20;

/** Reads a file once to identify its content, so that a second import of it is the same run. */
export async function identifyFile(file: ImportFile): Promise<IdentifiedFile> {
  const digest = createHash('sha256');
  for await (const chunk of openBytes(file.path, { asStored: true })) digest.update(chunk);
  const { size } = await stat(file.path);
  const layout = await findRowLayout(file.path);
  return { ...file, sha256: digest.digest('hex'), sizeBytes: size, layout };
}

/** The format of a file by its first rows; `unknown` when no format recognizes one of them, `unreadable` when there are only broken ones. */
export type FoundFormat =
  | { readonly kind: 'known'; readonly format: ImportFormat }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreadable'; readonly detail: string };

/** Detects the format of a file. */
export async function detectFileFormat(file: IdentifiedFile): Promise<FoundFormat> {
  const rows: unknown[] = [];
  let fault: BrokenRow | undefined;
  for await (const read of openRows(file.path, file.layout, null)) {
    // A fault of the whole file, number 0, says more than one of a row.
    if (isBroken(read)) fault = fault === undefined || read.number === 0 ? read : fault;
    else rows.push(read.value);
    if (rows.length === MAX_SAMPLE_ROWS) break;
  }
  if (rows.length === 0 && fault !== undefined) {
    return {
      kind: 'unreadable',
      detail: `${fault.number === 0 ? '' : `row ${fault.number}: `}${fault.detail}`,
    };
  }
  const format = detectFormat(rows);
  return format === null ? { kind: 'unknown' } : { kind: 'known', format };
}

/**
 * Reads files of one format and maps their rows. What can't be read or mapped is said and passed over; only a file that can't be opened
 * or read from the disk throws. Memory is bounded by a few of the largest rows, or groups of rows, whatever the size of the files.
 */
export async function* importRows(
  files: readonly IdentifiedFile[],
  format: ImportFormat,
): AsyncGenerator<Found> {
  if (format.keyOf === null) {
    for (const file of files) yield* importSingleRows(file, format);
    return;
  }
  const skips: Found[] = [];
  const rows = partsOf(files, format, (file, skip) => skips.push({ kind: 'skipped', file, skip }));
  const keyOf = format.keyOf.bind(format);
  const numBytes = files.reduce((sum, { sizeBytes, path }) => sum + sizeBytes * unpackedFactor(path), 0);
  for await (const { rows: group } of groupRows(rows, keyOf, numBytes)) {
    yield* skips.splice(0);
    yield* mapGroup(group, format, { fileId: '' });
  }
  yield* skips;
}

/** About how much larger compressed rows are when they are read. */
function unpackedFactor(path: string): number {
  return /\.(gz|zst|parquet)$/i.test(path) ? 10 : 1;
}

async function* importSingleRows(file: IdentifiedFile, format: ImportFormat): AsyncGenerator<Found> {
  const origin = { fileId: file.sha256.slice(0, 12) };
  for await (const read of openRows(file.path, file.layout, format.parquetColumns)) {
    if (isBroken(read)) yield brokenRow(file.name, read);
    else yield* mapGroup([{ ...read, file: file.name }], format, origin);
  }
}

async function* partsOf(
  files: readonly IdentifiedFile[],
  format: ImportFormat,
  onSkip: (file: string, skip: Skip) => void,
): AsyncGenerator<PlacedRow> {
  for (const { path, name, layout } of files) {
    for await (const read of openRows(path, layout, format.parquetColumns)) {
      if (isBroken(read)) {
        const found = brokenRow(name, read);
        onSkip(name, found.skip);
        continue;
      }
      const parts = format.expand === undefined ? [read.value] : format.expand(read.value);
      const usable = parts.filter((part) => format.keyOf?.(part) !== null);
      if (usable.length === 0) {
        const detail = `the row is not of the format ${format.name}`;
        onSkip(name, { code: 'WRONG_TYPE', detail, row: read.number });
      }
      for (const value of usable) yield { number: read.number, value, file: name };
    }
  }
}

function* mapGroup(rows: readonly PlacedRow[], format: ImportFormat, origin: RowOrigin): Generator<Found> {
  const [{ file, number: row }] = rows;
  const mapped = mapRows(rows, format, origin);
  for (const skip of mapped.skipped) yield { kind: 'skipped', file, skip };
  for (const records of mapped.episodes) yield { kind: 'episode', file, row, records };
}

/** Maps rows; a row that the format can't take is a skip. */
function mapRows(rows: readonly PlacedRow[], format: ImportFormat, origin: RowOrigin): Mapped {
  try {
    return format.map(rows, origin);
  } catch (error) {
    if (!(error instanceof RowFault)) throw error;
    return { episodes: [], skipped: [{ code: error.code, detail: error.message, row: rows[0].number }] };
  }
}

function brokenRow(file: string, read: { number: number; code: Skip['code']; detail: string }) {
  const row = read.number === 0 ? null : read.number;
  return { kind: 'skipped' as const, file, skip: { code: read.code, detail: read.detail, row } };
}
