/**
 * Bodies of the engine's wire: Arrow's stream format with one record batch, without copying a column.
 *
 * Legend: S sequences · N tokens · M wanted tokens.
 */
import {
  type Data,
  DataType,
  Field,
  Float32,
  Int32,
  List,
  makeData,
  RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Uint8,
} from 'apache-arrow';
import { TrainerError } from '../../trainer-error.js';

/** Column by column, in order. */
type NamedColumns = readonly (readonly [name: string, column: Data])[];

/**
 * One row a sequence: `tokens` list<int32>, and `mask` list<uint8> where there is one.
 *
 * @param sequenceOffsets [S + 1]
 * @param mask [N]
 */
export function encodeSequences(
  tokenIds: Int32Array,
  sequenceOffsets: Int32Array,
  mask: Uint8Array | null,
): Uint8Array {
  const numTokens = tokenIds.length;
  const tokens = makeData({ type: new Int32(), length: numTokens, nullCount: 0, data: tokenIds });
  const columns: NamedColumns = [['tokens', listOf(tokens, sequenceOffsets)]];
  if (mask === null) return encodeRows(columns, sequenceOffsets.length - 1);
  const bits = makeData({ type: new Uint8(), length: numTokens, nullCount: 0, data: mask });
  return encodeRows([...columns, ['mask', listOf(bits, sequenceOffsets)]], sequenceOffsets.length - 1);
}

/** One row a wanted token: float32 columns of the same length [M]; one that is null is left out. */
export function encodeNumbers(columns: Readonly<Record<string, Float32Array | null>>): Uint8Array {
  const present = Object.entries(columns).filter(
    (entry): entry is [string, Float32Array] => entry[1] !== null,
  );
  const numRows = present[0]?.[1].length ?? 0;
  const encoded = present.map(
    ([name, data]) =>
      [name, makeData({ type: new Float32(), length: data.length, nullCount: 0, data })] as const,
  );
  return encodeRows(encoded, numRows);
}

/**
 * The float32 columns of an answer, by name.
 *
 * @param numRows that it must have
 * @throws TrainerError `ENGINE_LOST` for a body that is cut off, no Arrow stream, or of another number of rows
 */
export function decodeNumbers(body: Uint8Array, numRows: number): ReadonlyMap<string, Float32Array> {
  const columns = new Map<string, Float32Array>();
  let found = 0;
  try {
    for (const batch of RecordBatchReader.from(body)) {
      batch.schema.fields.forEach(({ name, type }, i) => {
        if (!DataType.isFloat(type) || type.precision !== 1)
          throw new TypeError(`column ${name} is ${type}, must be float32`);
        const chunk = batch.data.children[i];
        const values = columns.get(name) ?? new Float32Array(numRows);
        columns.set(name, values);
        values.set((chunk.values as Float32Array).subarray(0, chunk.length), found);
      });
      found += batch.numRows;
    }
  } catch (cause) {
    throw unusable((cause as Error).message, cause);
  }
  if (found === numRows) return columns;
  throw unusable(`it has ${found} rows, must have ${numRows}`);
}

function unusable(reason: string, cause?: unknown): TrainerError {
  return new TrainerError('ENGINE_LOST', `the engine's answer can't be used: ${reason}`, { cause });
}

function listOf(child: Data, valueOffsets: Int32Array): Data {
  const type = new List(new Field('item', child.type, false));
  return makeData({ type, length: valueOffsets.length - 1, nullCount: 0, valueOffsets, child });
}

function encodeRows(columns: NamedColumns, numRows: number): Uint8Array {
  const schema = new Schema(columns.map(([name, { type }]) => new Field(name, type, false)));
  const children = columns.map(([, column]) => column);
  const struct = makeData({ type: new Struct(schema.fields), length: numRows, nullCount: 0, children });
  return RecordBatchStreamWriter.writeAll([new RecordBatch(schema, struct)]).toUint8Array(true);
}
