/** Rows in Arrow's stream format as one record batch, of columns that are flat already: no value is copied before the body is put together. */
import {
  type Data,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Uint8,
  Utf8,
} from 'apache-arrow';

type Numbers = Uint8Array | Int32Array | Float32Array | Float64Array;

/** Column by column, in order. */
export type NamedColumns = readonly (readonly [name: string, column: Data])[];

/** A column of numbers, one a row. */
export function numberColumn(data: Numbers): Data {
  const length = data.length;
  if (data instanceof Uint8Array) return makeData({ type: new Uint8(), length, nullCount: 0, data });
  if (data instanceof Int32Array) return makeData({ type: new Int32(), length, nullCount: 0, data });
  if (data instanceof Float32Array) return makeData({ type: new Float32(), length, nullCount: 0, data });
  return makeData({ type: new Float64(), length, nullCount: 0, data });
}

/**
 * A column of lists of numbers: row r has the values from `valueOffsets[r]` to `valueOffsets[r + 1]`.
 *
 * @param valueOffsets [rows + 1]
 */
export function listColumn(values: Numbers, valueOffsets: Int32Array): Data {
  const child = numberColumn(values);
  const type = new List(new Field('item', child.type, false));
  return makeData({ type, length: valueOffsets.length - 1, nullCount: 0, valueOffsets, child });
}

/** A column of lists of one length: row r has the values from `r · listSize`. */
export function fixedListColumn(values: Numbers, listSize: number): Data {
  const child = numberColumn(values);
  const type = new FixedSizeList(listSize, new Field('item', child.type, false));
  return makeData({ type, length: values.length / listSize, nullCount: 0, child });
}

/** A column of texts. */
export function textColumn(texts: readonly string[]): Data {
  const parts = texts.map((text) => Buffer.from(text));
  const valueOffsets = new Int32Array(texts.length + 1);
  parts.forEach((part, row) => {
    valueOffsets[row + 1] = valueOffsets[row] + part.length;
  });
  return makeData({
    type: new Utf8(),
    length: texts.length,
    nullCount: 0,
    valueOffsets,
    data: Buffer.concat(parts),
  });
}

/** The rows of these columns, with what is said of all of them. */
export function encodeRows(
  columns: NamedColumns,
  numRows: number,
  metadata: ReadonlyMap<string, string> = new Map(),
): Uint8Array {
  const fields = columns.map(([name, { type }]) => new Field(name, type, false));
  const schema = new Schema(fields, new Map(metadata));
  const children = columns.map(([, column]) => column);
  const struct = makeData({ type: new Struct(fields), length: numRows, nullCount: 0, children });
  return RecordBatchStreamWriter.writeAll([new RecordBatch(schema, struct)]).toUint8Array(true);
}
