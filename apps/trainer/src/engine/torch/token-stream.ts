/**
 * Bodies of the engine's wire: Arrow's stream format with one record batch, without copying a column.
 *
 * Legend: S sequences · N tokens · M wanted tokens.
 */
import { type Data, DataType, RecordBatchReader } from 'apache-arrow';
import type { ChosenIds } from '@retrace/compute';
import type { MicroBatch } from '@retrace/policy';
import {
  encodeRows,
  fixedListColumn,
  listColumn,
  numberColumn,
  type NamedColumns,
} from '../../arrow/arrow-rows.js';
import { TrainerError } from '../../trainer-error.js';

type SentSequences = Pick<MicroBatch, 'tokenIds' | 'sequenceOffsets'> &
  Partial<Pick<MicroBatch, 'mask' | 'wantedOffsets'>>;

/** One row a sequence: `tokens` list<int32>, `mask` list<uint8> where there is one, and `topIds` list<int32>, the chosen ids of its wanted tokens. */
export function encodeSequences(
  { tokenIds, sequenceOffsets, mask, wantedOffsets }: SentSequences,
  chosen: ChosenIds | null = null,
): Uint8Array {
  const columns: NamedColumns = [
    ['tokens', listColumn(tokenIds, sequenceOffsets)],
    ...(mask ? ([['mask', listColumn(mask, sequenceOffsets)]] as const) : []),
    ...(chosen && wantedOffsets ? [topIdsColumn(chosen, wantedOffsets)] : []),
  ];
  return encodeRows(columns, sequenceOffsets.length - 1);
}

function topIdsColumn({ ids, numPerRow }: ChosenIds, wantedOffsets: Int32Array) {
  const offsets = wantedOffsets.map((offset) => offset * numPerRow);
  return ['topIds', listColumn(ids, offsets)] as const;
}

/**
 * One row a wanted token: float32 columns; one that is null is left out.
 *
 * @param columns [M], and `dTopLogprob` [M·k]
 */
export function encodeNumbers({
  dLogprob,
  dTopLogprob = null,
  ...others
}: Readonly<Record<string, Float32Array | null>> & {
  readonly dLogprob: Float32Array;
  readonly dTopLogprob?: Float32Array | null;
}): Uint8Array {
  const numRows = dLogprob.length;
  const present = Object.entries({ dLogprob, ...others }).flatMap(([name, data]) =>
    data === null ? [] : [[name, numberColumn(data)] as const],
  );
  if (dTopLogprob === null || numRows === 0) return encodeRows(present, numRows);
  const listed = fixedListColumn(dTopLogprob, dTopLogprob.length / numRows);
  return encodeRows([...present, ['dTopLogprob', listed]], numRows);
}

/** Columns of an answer, by name: [M], or [M·k] for those that are lists of k numbers a row. */
export interface AnsweredColumns {
  readonly float32s: ReadonlyMap<string, Float32Array>;
  readonly int32s: ReadonlyMap<string, Int32Array>;
}

/**
 * The columns of an answer.
 *
 * @param numRows that it must have
 * @throws TrainerError `ENGINE_LOST` for a body that is cut off, no Arrow stream, or of another number of rows or type
 */
export function decodeNumbers(body: Uint8Array, numRows: number): AnsweredColumns {
  const float32s = new Map<string, Float32Array>();
  const int32s = new Map<string, Int32Array>();
  let found = 0;
  try {
    for (const batch of RecordBatchReader.from(body)) {
      batch.schema.fields.forEach(({ name }, i) => {
        const [chunk, numPerRow] = requireNumbers(name, batch.data.children[i]);
        const from = found * numPerRow;
        if (chunk instanceof Float32Array)
          takeColumn(float32s, name, () => new Float32Array(numRows * numPerRow)).set(chunk, from);
        else takeColumn(int32s, name, () => new Int32Array(numRows * numPerRow)).set(chunk, from);
      });
      found += batch.numRows;
    }
  } catch (cause) {
    throw unusable((cause as Error).message, cause);
  }
  if (found === numRows) return { float32s, int32s };
  throw unusable(`it has ${found} rows, must have ${numRows}`);
}

function takeColumn<T>(columns: Map<string, T>, name: string, make: () => T): T {
  const column = columns.get(name) ?? make();
  columns.set(name, column);
  return column;
}

/** The numbers of a column, and how many a row has; ids are int32, all others float32. */
function requireNumbers(name: string, data: Data): readonly [Float32Array | Int32Array, number] {
  const { type } = data;
  if (DataType.isFixedSizeList(type)) {
    const { listSize } = type;
    const [values] = requireNumbers(name, data.children[0]);
    return [values.subarray(0, data.length * listSize), listSize];
  }
  const isRight = name === 'topId' ? DataType.isInt(type) && type.bitWidth === 32 : isFloat32(type);
  if (!isRight)
    throw new TypeError(`column ${name} is ${type}, must be ${name === 'topId' ? 'int32' : 'float32'}`);
  return [(data.values as Float32Array | Int32Array).subarray(0, data.length), 1];
}

function isFloat32(type: DataType): boolean {
  return DataType.isFloat(type) && type.precision === 1;
}

function unusable(reason: string, cause?: unknown): TrainerError {
  return new TrainerError('ENGINE_LOST', `the engine's answer can't be used: ${reason}`, { cause });
}
