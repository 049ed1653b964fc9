/**
 * Packs a typed array into compact bytes that name their type.
 *
 * Layout: element type (1 byte), stored width in bytes (1 byte), then three varints: the number of equal leading elements, of
 * elements in the middle, and of equal trailing elements; then the leading element if any, the middle, the trailing one if any.
 * Token columns consist of such runs: zeros before the sampled logprobs, zeros then ones in a mask, one policy version
 * throughout. `Float64Array` columns are stored without runs. `Int32Array` elements are stored in the narrowest of uint8, uint16 and int32 that holds them all.
 * Numbers are little-endian, as in memory on every platform Node.js has prebuilt binaries for but s390x.
 */

export type TypedColumn = Uint8Array | Int32Array | Float32Array | Float64Array;

/** Prevents a damaged run length from allocating gigabytes; far above the context of any model. */
const MAX_COLUMN_LENGTH = 1 << 24;

/** Shorter runs cost more than they save. */
const MIN_RUN_LENGTH = 3;

const HEADER_BYTES = 2;
const MAX_VARINT_BYTES = 5;

const ELEMENT_TYPES = { Uint8Array: 1, Int32Array: 2, Float32Array: 3, Float64Array: 4 } as const;

/** Up to so many bytes are read through a copy: a view of a small array makes V8 move its elements out of the heap first. */
const SHORT_BYTES = 128;

/** One memory under views of each type. Used synchronously, so it is shared. */
const shortBytes = new Uint8Array(SHORT_BYTES);
const shortBits = new Uint32Array(shortBytes.buffer);
const shortIntegers = new Int32Array(shortBytes.buffer);
const shortFloats = new Float32Array(shortBytes.buffer);
const shortDoubles = new Float64Array(shortBytes.buffer);

export function isColumn(value: unknown): value is TypedColumn {
  if (!ArrayBuffer.isView(value)) return false;
  const arrayClass: unknown = value.constructor;
  return (
    arrayClass === Int32Array ||
    arrayClass === Float32Array ||
    arrayClass === Uint8Array ||
    arrayClass === Float64Array
  );
}

/** The stored form of a column. */
export interface ColumnLayout {
  readonly type: number;
  /** Bytes an element. */
  readonly width: number;
  readonly numLeading: number;
  readonly numMiddle: number;
  readonly numTrailing: number;
  /** Size of the packed column, header included. */
  readonly packedBytes: number;
}

export function layOutColumn(column: TypedColumn): ColumnLayout {
  const type = toElementType(column);
  const width = column instanceof Int32Array ? narrowestWidth(column) : column.BYTES_PER_ELEMENT;
  const bits = column instanceof Float64Array || column.length === 0 ? null : viewColumnBits(column);
  const numLeading = bits === null ? 0 : countLeading(bits, column.length);
  const numTrailing = bits === null ? 0 : countTrailing(bits, column.length, numLeading);
  const numMiddle = column.length - numLeading - numTrailing;
  const lengths = varintBytes(numLeading) + varintBytes(numMiddle) + varintBytes(numTrailing);
  const packedBytes = HEADER_BYTES + lengths + storedElements(numLeading, numMiddle, numTrailing) * width;
  return { type, width, numLeading, numMiddle, numTrailing, packedBytes };
}

/** Writes a column in its layout, and returns the position behind it. */
export function writeColumn(
  target: Uint8Array,
  at: number,
  column: TypedColumn,
  layout: ColumnLayout,
): number {
  const { type, width, numLeading, numMiddle, numTrailing } = layout;
  target[at] = type;
  target[at + 1] = width;
  let next = writeVarint(target, at + HEADER_BYTES, numLeading);
  next = writeVarint(target, next, numMiddle);
  next = writeVarint(target, next, numTrailing);
  // The last leading element, the middle and the first trailing one are neighbours in the source.
  const first = Math.max(0, numLeading - 1);
  const end = first + storedElements(numLeading, numMiddle, numTrailing);
  if (width === column.BYTES_PER_ELEMENT) return copyElements(column, first, end, target, next);
  for (let i = first; i < end; i += 1) {
    target[next++] = column[i];
    if (width === 2) target[next++] = column[i] >> 8;
  }
  return next;
}

/** Copies the bytes of the elements from `first` to `end`, and returns the position behind them. */
function copyElements(
  column: TypedColumn,
  first: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const start = first * column.BYTES_PER_ELEMENT;
  const sizeBytes = end * column.BYTES_PER_ELEMENT - start;
  if (column.byteLength > SHORT_BYTES) {
    target.set(new Uint8Array(column.buffer, column.byteOffset + start, sizeBytes), at);
    return at + sizeBytes;
  }
  if (sizeBytes === 0) return at;
  copyShort(column);
  for (let i = 0; i < sizeBytes; i += 1) target[at + i] = shortBytes[start + i];
  return at + sizeBytes;
}

/** Copies a column of at most `SHORT_BYTES` into the shared memory, bit by bit. */
function copyShort(column: TypedColumn): void {
  if (column instanceof Float32Array) shortFloats.set(column);
  else if (column instanceof Int32Array) shortIntegers.set(column);
  else if (column instanceof Uint8Array) shortBytes.set(column);
  else shortDoubles.set(column);
}

export function packColumn(column: TypedColumn): Buffer {
  const layout = layOutColumn(column);
  const packed = Buffer.allocUnsafe(layout.packedBytes);
  writeColumn(packed, 0, column, layout);
  return packed;
}

/** Position and form of a packed column inside some bytes. */
export interface PackedColumn {
  readonly bytes: Uint8Array;
  /** Range of the stored elements. */
  readonly start: number;
  readonly end: number;
  readonly type: number;
  readonly width: number;
  readonly numLeading: number;
  readonly numTrailing: number;
  /** Number of elements of the column. */
  readonly length: number;
}

/** @throws RangeError when the bytes from `start` to `end` are no packed column */
export function readPackedColumn(bytes: Uint8Array, start: number, end: number): PackedColumn {
  const reader = { bytes, at: start + HEADER_BYTES, end };
  const numLeading = readVarint(reader);
  const numMiddle = readVarint(reader);
  const numTrailing = readVarint(reader);
  const length = numLeading + numMiddle + numTrailing;
  if (length > MAX_COLUMN_LENGTH) {
    throw new RangeError(`packed column has ${length} elements; must have at most ${MAX_COLUMN_LENGTH}`);
  }
  const type = bytes[start];
  const width = bytes[start + 1];
  const sizeBytes = storedElements(numLeading, numMiddle, numTrailing) * width;
  if (end - reader.at !== sizeBytes) {
    throw new RangeError(`packed column holds ${end - reader.at} bytes; must hold ${sizeBytes}`);
  }
  const packed = { bytes, start: reader.at, end, type, width, numLeading, numTrailing, length };
  requireForm(packed);
  return packed;
}

/** Whether a packed column has the element type of `column`. */
export function hasElementsOf(packed: PackedColumn, column: TypedColumn): boolean {
  return packed.type === toElementType(column);
}

/** @throws RangeError when the bytes are no packed column */
export function unpackColumn(packed: Uint8Array): TypedColumn {
  const column = readPackedColumn(packed, 0, packed.length);
  const target = newColumn(column);
  unpackInto(target, column);
  return target;
}

/** Unpacks into a column of the same type and length. */
export function unpackInto(target: TypedColumn, packed: PackedColumn): void {
  const { bytes, start, end, width, numLeading, numTrailing } = packed;
  const from = Math.max(0, numLeading - 1);
  if (width === target.BYTES_PER_ELEMENT) {
    const at = target.byteOffset + from * width;
    new Uint8Array(target.buffer, at, end - start).set(bytes.subarray(start, end));
  } else {
    widen(packed, from, target);
  }
  fillRuns(target, numLeading, numTrailing);
}

/** Runs are compared as integers, so that every NaN keeps its bits. The bits of a short column are valid until the next call. */
function viewColumnBits(column: Exclude<TypedColumn, Float64Array>): Uint8Array | Int32Array | Uint32Array {
  if (!(column instanceof Float32Array)) return column;
  if (column.byteLength > SHORT_BYTES) return viewBits(column);
  shortFloats.set(column);
  return shortBits;
}

function viewBits(column: Float32Array): Uint32Array {
  return new Uint32Array(column.buffer, column.byteOffset, column.length);
}

function fillRuns(column: TypedColumn, numLeading: number, numTrailing: number): void {
  if (column instanceof Float64Array || (numLeading === 0 && numTrailing === 0)) return;
  const bits = column instanceof Float32Array ? viewBits(column) : column;
  if (numLeading > 0) bits.fill(bits[numLeading - 1], 0, numLeading - 1);
  if (numTrailing > 0) bits.fill(bits[bits.length - numTrailing], bits.length - numTrailing + 1);
}

/** Number of elements at the start of a column that are equal; 0 when a run of them saves nothing. */
function countLeading(bits: Uint8Array | Int32Array | Uint32Array, length: number): number {
  let leading = 1;
  while (leading < length && bits[leading] === bits[0]) leading += 1;
  return leading < MIN_RUN_LENGTH ? 0 : leading;
}

/** The same at its end, behind the leading ones. */
function countTrailing(
  bits: Uint8Array | Int32Array | Uint32Array,
  length: number,
  numLeading: number,
): number {
  const last = length - 1;
  let trailing = 1;
  while (trailing < length - numLeading && bits[last - trailing] === bits[last]) trailing += 1;
  return numLeading < length && trailing >= MIN_RUN_LENGTH ? trailing : 0;
}

function storedElements(numLeading: number, numMiddle: number, numTrailing: number): number {
  return numMiddle + (numLeading > 0 ? 1 : 0) + (numTrailing > 0 ? 1 : 0);
}

function newColumn({ type, length }: PackedColumn): TypedColumn {
  if (type === ELEMENT_TYPES.Uint8Array) return new Uint8Array(length);
  if (type === ELEMENT_TYPES.Float32Array) return new Float32Array(length);
  return type === ELEMENT_TYPES.Float64Array ? new Float64Array(length) : new Int32Array(length);
}

function requireForm({ type, width, numLeading, numTrailing }: PackedColumn): void {
  const isForm =
    (type === ELEMENT_TYPES.Uint8Array && width === 1) ||
    (type === ELEMENT_TYPES.Float32Array && width === 4) ||
    (type === ELEMENT_TYPES.Float64Array && width === 8) ||
    (type === ELEMENT_TYPES.Int32Array && (width === 1 || width === 2 || width === 4));
  if (!isForm)
    throw new RangeError(
      `packed column has element type ${type} in ${width} bytes, which is not a known form`,
    );
  if (type === ELEMENT_TYPES.Float64Array && (numLeading > 0 || numTrailing > 0))
    throw new RangeError('packed column of float64 has runs; must have none');
}

/** Unpacks elements that are stored in fewer bytes than they have, into the target from element `from` on. */
function widen({ bytes, start, end, width }: PackedColumn, from: number, target: TypedColumn): void {
  let i = from;
  if (width === 1) for (let next = start; next < end; next += 1) target[i++] = bytes[next];
  else for (let next = start; next < end; next += 2) target[i++] = bytes[next] | (bytes[next + 1] << 8);
}

function narrowestWidth(column: Int32Array): number {
  // Or-ing keeps the highest bit of any element, the sign bit included.
  let bits = 0;
  for (const element of column) {
    bits |= element;
    if (bits < 0 || bits > 0xffff) return 4;
  }
  return bits > 0xff ? 2 : 1;
}

function toElementType(column: TypedColumn): number {
  if (column instanceof Int32Array) return ELEMENT_TYPES.Int32Array;
  if (column instanceof Float32Array) return ELEMENT_TYPES.Float32Array;
  return column instanceof Float64Array ? ELEMENT_TYPES.Float64Array : ELEMENT_TYPES.Uint8Array;
}

function varintBytes(value: number): number {
  let numBytes = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) numBytes += 1;
  return numBytes;
}

/** LEB128: seven bits a byte, lowest first. */
function writeVarint(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  let next = at;
  for (; rest > 0x7f; rest >>>= 7) target[next++] = (rest & 0x7f) | 0x80;
  target[next++] = rest;
  return next;
}

function readVarint(reader: { readonly bytes: Uint8Array; at: number; readonly end: number }): number {
  let value = 0;
  for (let i = 0; i < MAX_VARINT_BYTES && reader.at < reader.end; i += 1) {
    const byte = reader.bytes[reader.at++];
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return value;
  }
  throw new RangeError('packed column has a damaged run length');
}
