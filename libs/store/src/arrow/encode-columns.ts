import { type Data, Field, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from './apache-arrow.js';
import { type ColumnBuilder, newData } from './column-builder.js';

/** Rows on their way into a table. */
export interface EncodedColumns {
  /** The columns in the body; the others have their default in every row. */
  readonly columns: readonly string[];
  /** Arrow's streaming format, one record batch. */
  readonly body: Uint8Array;
}

/** Encodes named columns as one record batch, for `INSERT INTO … (columns) FORMAT ArrowStream`. */
export function encodeColumns(
  columns: readonly (readonly [string, ColumnBuilder])[],
  numRows: number,
): EncodedColumns {
  const children = columns.map(([, builder]) => builder.finish(numRows));
  const schema = new Schema(
    columns.map(([name, builder], i) => new Field(name, children[i].type, builder.isNullable)),
  );
  const struct = newData(new Struct(schema.fields), {
    length: numRows,
    nullCount: 0,
    children,
  }) as Data<Struct>;
  const batch = new RecordBatch(schema, struct);
  const body = RecordBatchStreamWriter.writeAll([batch]).toUint8Array(true);
  return { columns: columns.map(([name]) => name), body };
}
