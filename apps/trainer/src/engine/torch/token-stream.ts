/**
 * Bodies of the engine's wire: Arrow's stream format with one record batch, without copying a column.
 *
 * Legend: S sequences · N tokens · M wanted tokens.
 */
import { DataType, RecordBatchReader } from 'apache-arrow';
import { encodeRows, listColumn, numberColumn, type NamedColumns } from '../../arrow/arrow-rows.js';
import { TrainerError } from '../../trainer-error.js';

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
  const columns: NamedColumns = [['tokens', listColumn(tokenIds, sequenceOffsets)]];
  const numSequences = sequenceOffsets.length - 1;
  if (mask === null) return encodeRows(columns, numSequences);
  return encodeRows([...columns, ['mask', listColumn(mask, sequenceOffsets)]], numSequences);
}

/** One row a wanted token: float32 columns of the same length [M]; one that is null is left out. */
export function encodeNumbers(columns: Readonly<Record<string, Float32Array | null>>): Uint8Array {
  const present = Object.entries(columns).filter(
    (entry): entry is [string, Float32Array] => entry[1] !== null,
  );
  const numRows = present[0]?.[1].length ?? 0;
  return encodeRows(
    present.map(([name, data]) => [name, numberColumn(data)] as const),
    numRows,
  );
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
