import { type Data, DataType, type RecordBatch, RecordBatchReader } from './apache-arrow.js';
import {
  appendTexts,
  listBytes,
  flatBits,
  flatNumbers,
  type FlatNumbers,
  rebasedOffsets,
  listTexts,
  validity,
} from './arrow-chunk.js';
import { ArrowError } from './arrow-error.js';
import { concat, concatOffsets } from './concat.js';

export type { FlatNumbers } from './arrow-chunk.js';

/** A ragged column: row r = values [offsets[r], offsets[r + 1]). Offsets start at 0 and end at `values.length`. */
export interface FlatLists {
  readonly offsets: Int32Array;
  readonly values: FlatNumbers;
}

/** A nullable column; `values` is meaningless where `isValid` is 0. */
export interface NullableNumbers {
  readonly values: FlatNumbers;
  readonly isValid: Uint8Array;
}

const END_OF_STREAM = Buffer.from('ffffffff00000000', 'hex');

/**
 * Checks that the stream ends with the engine's end mark. Otherwise the connection broke or an exception came after the first bytes.
 *
 * @throws ArrowError `ARROW_INCOMPLETE`, with the exception's text when there is one
 */
export function assertCompleteArrowStream(bytes: Uint8Array): void {
  const tail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(-4096);
  if (tail.subarray(-END_OF_STREAM.length).equals(END_OF_STREAM)) return;
  const exception = /Code: \d+\. DB::Exception: [^\0]*/.exec(tail.toString('latin1'))?.[0].trim();
  const message = `Arrow stream of ${bytes.length} bytes does not end with its end mark: ${exception ?? 'it was cut off'}`;
  throw new ArrowError('ARROW_INCOMPLETE', message, { retriable: exception === undefined });
}

/**
 * A query result as flat columns. Hides how Arrow's buffers differ from plain arrays: several record batches, buffers longer than their
 * column, offsets that don't start at 0, null and boolean bitmaps, dictionaries.
 *
 * Methods throw `ArrowError` `ARROW_UNEXPECTED_COLUMN` for a column that is missing or of another type, and for nulls in
 * a column that isn't asked for as nullable.
 */
export class ArrowColumns {
  readonly numRows: number;
  private readonly batches: readonly RecordBatch[];
  private readonly positions: ReadonlyMap<string, number>;

  constructor(batches: readonly RecordBatch[]) {
    this.batches = batches.filter((batch) => batch.numRows > 0);
    this.numRows = this.batches.reduce((sum, batch) => sum + batch.numRows, 0);
    this.positions = new Map(batches[0]?.schema.fields.map((field, i) => [field.name, i]));
  }

  /** @throws ArrowError `ARROW_UNREADABLE` when the bytes are no uncompressed Arrow stream; `ARROW_INCOMPLETE` */
  static read(bytes: Uint8Array): ArrowColumns {
    assertCompleteArrowStream(bytes);
    try {
      return new ArrowColumns([...RecordBatchReader.from(bytes)]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const advice = /compress/.test(reason) ? '; set output_format_arrow_compression_method = none' : '';
      throw new ArrowError('ARROW_UNREADABLE', `Arrow stream can't be read: ${reason}${advice}`, {
        cause: error,
      });
    }
  }

  /** [numRows] */
  numbers(name: string): FlatNumbers {
    return concatNumbers(
      this.chunks(name, 'numbers', isNumeric).map((chunk) => flatNumbers(refuseNulls(chunk, name))),
    );
  }

  nullableNumbers(name: string): NullableNumbers {
    const chunks = this.chunks(name, 'numbers', (type) => isNumeric(type) || DataType.isBool(type));
    const values = concatNumbers(
      chunks.map((chunk) => (DataType.isBool(chunk.type) ? flatBits(chunk) : flatNumbers(chunk))),
    );
    return { values, isValid: concatNumbers(chunks.map(validity)) as Uint8Array };
  }

  /** [numRows] 1 where true. */
  flags(name: string): Uint8Array {
    const chunks = this.chunks(name, 'booleans', DataType.isBool);
    return concatNumbers(chunks.map((chunk) => flatBits(refuseNulls(chunk, name)))) as Uint8Array;
  }

  texts(name: string): string[] {
    const texts: string[] = [];
    for (const chunk of this.chunks(name, 'text', isText)) appendTexts(texts, refuseNulls(chunk, name));
    return texts;
  }

  nullableTexts(name: string): (string | null)[] {
    const texts: (string | null)[] = [];
    for (const chunk of this.chunks(name, 'text', isText)) {
      const first = texts.length;
      appendTexts(texts as string[], chunk);
      if (chunk.nullCount === 0) continue;
      const isValid = validity(chunk);
      for (let row = 0; row < isValid.length; row++) if (isValid[row] === 0) texts[first + row] = null;
    }
    return texts;
  }

  /** Bytes of a text or binary column, one view a row. */
  bytes(name: string): Uint8Array[] {
    const isBytes = (type: DataType): boolean => DataType.isUtf8(type) || DataType.isBinary(type);
    return this.chunks(name, 'bytes', isBytes).flatMap((chunk) => listBytes(refuseNulls(chunk, name)));
  }

  /** [numRows × width] of a fixed-width binary column: UUIDs (width 16), checksums. */
  fixedBytes(name: string, width: number): Uint8Array {
    const isFixed = (type: DataType): boolean => DataType.isFixedSizeBinary(type) && type.byteWidth === width;
    const chunks = this.chunks(name, `${width} bytes`, isFixed);
    return concatNumbers(
      chunks.map((chunk) =>
        (refuseNulls(chunk, name).values as Uint8Array).subarray(0, chunk.length * width),
      ),
    ) as Uint8Array;
  }

  lists(name: string): FlatLists {
    const parts = this.listChunks(name);
    return {
      offsets: concatOffsets(parts.map((part) => part.offsets)),
      values: concatNumbers(parts.map((part) => part.values)),
    };
  }

  /** Returns the lists of each record batch separately, as views into the answer. */
  listChunks(name: string): FlatLists[] {
    const isNumericList = (type: DataType): boolean =>
      DataType.isList(type) && isNumeric(type.valueType as DataType);
    return this.chunks(name, 'lists of numbers', isNumericList).map((chunk) => {
      const { offsets, start, end } = rebasedOffsets(refuseNulls(chunk, name));
      const values = flatNumbers(refuseNulls(chunk.children[0], name));
      return { offsets, values: values.subarray(start, end) as FlatNumbers };
    });
  }

  textLists(name: string): string[][] {
    const isTextList = (type: DataType): boolean =>
      DataType.isList(type) && isText(type.valueType as DataType);
    return this.chunks(name, 'lists of text', isTextList).flatMap((chunk) => {
      const { offsets, start } = rebasedOffsets(refuseNulls(chunk, name));
      const items = listTexts(chunk.children[0]);
      return Array.from({ length: chunk.length }, (_, row) =>
        items.slice(start + offsets[row], start + offsets[row + 1]),
      );
    });
  }

  private chunks(name: string, what: string, accepts: (type: DataType) => boolean): Data[] {
    const position = this.positions.get(name);
    if (position === undefined) {
      throw new ArrowError(
        'ARROW_UNEXPECTED_COLUMN',
        `Result has no column ${name}; it has ${[...this.positions.keys()].join(', ')}`,
      );
    }
    return this.batches.map((batch) => {
      const chunk = batch.data.children[position];
      if (accepts(chunk.type)) return chunk;
      throw new ArrowError(
        'ARROW_UNEXPECTED_COLUMN',
        `Column ${name} has type ${chunk.type}; must hold ${what}`,
      );
    });
  }
}

function isNumeric(type: DataType): boolean {
  return DataType.isInt(type) || DataType.isFloat(type) || DataType.isTimestamp(type);
}

function isText(type: DataType): boolean {
  return (
    DataType.isUtf8(type) || (DataType.isDictionary(type) && DataType.isUtf8(type.dictionary as DataType))
  );
}

function refuseNulls(chunk: Data, name: string): Data {
  if (chunk.nullCount === 0) return chunk;
  throw new ArrowError(
    'ARROW_UNEXPECTED_COLUMN',
    `Column ${name} has ${chunk.nullCount} nulls; must have none`,
  );
}

/** Joins parts; copies only when there are several. */
function concatNumbers(parts: readonly FlatNumbers[]): FlatNumbers {
  if (parts.length === 1) return parts[0];
  if (parts.length === 0) return new Uint8Array(0);
  return concat(parts[0].constructor as new (length: number) => FlatNumbers, parts);
}
