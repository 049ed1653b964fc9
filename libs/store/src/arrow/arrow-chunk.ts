/** Converts one column of one record batch to plain arrays, without the padding and bitmaps of Arrow's buffers. */
import { type Data, DataType } from './apache-arrow.js';

/** Flat numbers; 64-bit integers are converted to float64, exact within ±2⁵³. */
export type FlatNumbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

/** Returns the values without the buffer's padding. */
export function flatNumbers(chunk: Data): FlatNumbers {
  const values = (chunk.values as FlatNumbers | BigInt64Array | BigUint64Array).subarray(0, chunk.length);
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) return asFloat64s(values);
  return values;
}

const TWO_TO_32 = 2 ** 32;

/** Converts by halves of 32 bits, because every BigInt would be an object. */
function asFloat64s(values: BigInt64Array | BigUint64Array): Float64Array {
  const { buffer, byteOffset, length } = values;
  const low = new Uint32Array(buffer, byteOffset, 2 * length);
  const high = values instanceof BigInt64Array ? new Int32Array(buffer, byteOffset, 2 * length) : low;
  const numbers = new Float64Array(length);
  for (let i = 0; i < length; i++) numbers[i] = high[2 * i + 1] * TWO_TO_32 + low[2 * i];
  return numbers;
}

/** Bitmaps are not cut when a column is sliced, so they count from the slice's own offset. */
export function flatBits(chunk: Data): Uint8Array {
  return unpackBits(chunk.values as Uint8Array, chunk.offset, chunk.length);
}

export function validity(chunk: Data): Uint8Array {
  if (chunk.nullCount === 0) return new Uint8Array(chunk.length).fill(1);
  return unpackBits(chunk.nullBitmap as Uint8Array, chunk.offset, chunk.length);
}

function unpackBits(bitmap: Uint8Array, offset: number, length: number): Uint8Array {
  const flags = new Uint8Array(length);
  for (let i = 0; i < length; i++) flags[i] = (bitmap[(offset + i) >> 3] >> ((offset + i) & 7)) & 1;
  return flags;
}

interface RebasedOffsets {
  /** [length + 1] from 0 on. */
  readonly offsets: Int32Array;
  /** Where row 0 starts, and the last row ends, in the child. */
  readonly start: number;
  readonly end: number;
}

export function rebasedOffsets(chunk: Data): RebasedOffsets {
  const offsets = (chunk.valueOffsets as Int32Array).subarray(0, chunk.length + 1);
  const start = offsets[0];
  const end = offsets[chunk.length];
  return { offsets: start === 0 ? offsets : offsets.map((offset) => offset - start), start, end };
}

export function listBytes(chunk: Data): Uint8Array[] {
  const { valueOffsets, values, length } = chunk;
  return Array.from({ length }, (_, row) =>
    (values as Uint8Array).subarray(valueOffsets[row], valueOffsets[row + 1]),
  );
}

export function listTexts(chunk: Data): string[] {
  const texts: string[] = [];
  appendTexts(texts, chunk);
  return texts;
}

export function appendTexts(texts: string[], chunk: Data): void {
  if (DataType.isDictionary(chunk.type)) {
    const distinct = (chunk.dictionary?.data ?? []).flatMap(listTexts);
    for (const index of flatNumbers(chunk)) texts.push(distinct[index]);
    return;
  }
  const { valueOffsets, values, length } = chunk;
  const bytes = values as Uint8Array;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  let from = 0;
  let to = 0;
  for (let row = 0; row < length; row++) {
    const start = valueOffsets[row];
    const end = valueOffsets[row + 1];
    // Neighbouring rows often have equal texts: those of one episode, and empty columns. They share one string.
    if (!areEqual(bytes, { from, to, start, end })) text = view.toString('utf8', start, end);
    from = start;
    to = end;
    texts.push(text);
  }
}

/** Whether the bytes in [from, to) are those in [start, end). */
function areEqual(
  bytes: Uint8Array,
  {
    from,
    to,
    start,
    end,
  }: { readonly from: number; readonly to: number; readonly start: number; readonly end: number },
): boolean {
  if (to - from !== end - start) return false;
  // Compared from the end, where ids differ first.
  for (let back = 1; back <= end - start; back++) if (bytes[to - back] !== bytes[end - back]) return false;
  return true;
}
