/**
 * A typed array as compact bytes that say what they are.
 *
 * Layout: element type (1 byte), stored width in bytes (1 byte), then three varints: how many equal elements lead, how many
 * differ in the middle, how many equal ones trail; then the leading element if any, the middle, the trailing one if any.
 * Token columns are made of such stretches: zeros before the sampled logprobs, zeros then ones in a mask, one policy version
 * throughout. `Float64Array` columns hold no runs worth it. `Int32Array` elements are stored in the narrowest of uint8, uint16 and int32 that holds them all.
 * Numbers are little-endian, as in memory on every platform Node.js has prebuilt binaries for but s390x.
 */

export type Column = Uint8Array | Int32Array | Float32Array | Float64Array;

/** Stops a damaged run length from allocating gigabytes; far above the context of any model. */
const MAX_COLUMN_LENGTH = 1 << 24;

/** Shorter runs cost more than they save. */
const MIN_RUN_LENGTH = 3;

const HEADER_BYTES = 2;
const MAX_VARINT_BYTES = 5;

const ELEMENT_TYPES = { Uint8Array: 1, Int32Array: 2, Float32Array: 3, Float64Array: 4 } as const;

export function isColumn(value: unknown): value is Column {
  return ArrayBuffer.isView(value) && Object.hasOwn(ELEMENT_TYPES, value.constructor.name);
}

export function packColumn(column: Column): Buffer {
  const type = ELEMENT_TYPES[column.constructor.name as keyof typeof ELEMENT_TYPES];
  const stored = column instanceof Int32Array ? narrow(column) : column;
  const width = stored.BYTES_PER_ELEMENT;
  const { numLeading, numTrailing } = countRuns(stored);
  const numMiddle = stored.length - numLeading - numTrailing;

  const sizeBytes = storedElements(numLeading, numMiddle, numTrailing) * width;
  const packed = Buffer.allocUnsafe(HEADER_BYTES + 3 * MAX_VARINT_BYTES + sizeBytes);
  packed[0] = type;
  packed[1] = width;
  let at = writeVarint(packed, HEADER_BYTES, numLeading);
  at = writeVarint(packed, at, numMiddle);
  at = writeVarint(packed, at, numTrailing);
  // The last leading element, the middle and the first trailing one are neighbours in the source.
  const from = Math.max(0, numLeading - 1) * width;
  packed.set(new Uint8Array(stored.buffer, stored.byteOffset + from, sizeBytes), at);
  return packed.subarray(0, at + sizeBytes);
}

/** @throws RangeError when the bytes are no packed column */
export function unpackColumn(packed: Uint8Array): Column {
  const [type, width] = packed;
  const reader = { bytes: packed, at: HEADER_BYTES };
  const numLeading = readVarint(reader);
  const numMiddle = readVarint(reader);
  const numTrailing = readVarint(reader);
  const length = numLeading + numMiddle + numTrailing;
  if (length > MAX_COLUMN_LENGTH) {
    throw new RangeError(`packed column has ${length} elements; must have at most ${MAX_COLUMN_LENGTH}`);
  }
  const sizeBytes = storedElements(numLeading, numMiddle, numTrailing) * width;
  if (packed.length - reader.at !== sizeBytes) {
    throw new RangeError(`packed column holds ${packed.length - reader.at} bytes; must hold ${sizeBytes}`);
  }
  const stored = newStored(type, width, length);
  const from = Math.max(0, numLeading - 1);
  new Uint8Array(stored.buffer).set(packed.subarray(reader.at), from * width);
  fillRuns(stored, numLeading, numTrailing);
  return type === ELEMENT_TYPES.Int32Array && width < 4 ? new Int32Array(stored) : (stored as Column);
}

type Stored = Column | Uint16Array;

/** Runs are compared and filled as integers, so that every NaN keeps its bits. */
function bitsOf(stored: Exclude<Stored, Float64Array>): Uint8Array | Uint16Array | Uint32Array {
  if (stored.BYTES_PER_ELEMENT < 4) return stored as Uint8Array | Uint16Array;
  return new Uint32Array(stored.buffer, stored.byteOffset, stored.byteLength / 4);
}

function fillRuns(stored: Stored, numLeading: number, numTrailing: number): void {
  if (numLeading === 0 && numTrailing === 0) return;
  if (stored instanceof Float64Array)
    throw new RangeError('packed column of float64 has runs; must have none');
  const bits = bitsOf(stored);
  if (numLeading > 0) bits.fill(bits[numLeading - 1], 0, numLeading - 1);
  if (numTrailing > 0) bits.fill(bits[bits.length - numTrailing], bits.length - numTrailing + 1);
}

function countRuns(stored: Stored): { readonly numLeading: number; readonly numTrailing: number } {
  if (stored instanceof Float64Array || stored.length === 0) return { numLeading: 0, numTrailing: 0 };
  const bits = bitsOf(stored);
  let leading = 1;
  while (leading < bits.length && bits[leading] === bits[0]) leading += 1;
  const numLeading = leading < MIN_RUN_LENGTH ? 0 : leading;
  const last = bits.length - 1;
  let trailing = 1;
  while (trailing < bits.length - numLeading && bits[last - trailing] === bits[last]) trailing += 1;
  const isRun = numLeading < bits.length && trailing >= MIN_RUN_LENGTH;
  return { numLeading, numTrailing: isRun ? trailing : 0 };
}

function storedElements(numLeading: number, numMiddle: number, numTrailing: number): number {
  return numMiddle + (numLeading > 0 ? 1 : 0) + (numTrailing > 0 ? 1 : 0);
}

function newStored(type: number, width: number, length: number): Stored {
  if (type === ELEMENT_TYPES.Uint8Array && width === 1) return new Uint8Array(length);
  if (type === ELEMENT_TYPES.Float32Array && width === 4) return new Float32Array(length);
  if (type === ELEMENT_TYPES.Float64Array && width === 8) return new Float64Array(length);
  if (type === ELEMENT_TYPES.Int32Array) {
    if (width === 1) return new Uint8Array(length);
    if (width === 2) return new Uint16Array(length);
    if (width === 4) return new Int32Array(length);
  }
  throw new RangeError(`packed column has element type ${type} in ${width} bytes; there is no such form`);
}

function narrow(column: Int32Array): Stored {
  // Or-ing keeps the highest bit of any element, the sign bit included.
  let bits = 0;
  for (const element of column) bits |= element;
  if (bits < 0 || bits > 0xffff) return column;
  return bits > 0xff ? new Uint16Array(column) : new Uint8Array(column);
}

/** LEB128: seven bits a byte, lowest first. */
function writeVarint(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  let next = at;
  for (; rest > 0x7f; rest >>>= 7) target[next++] = (rest & 0x7f) | 0x80;
  target[next++] = rest;
  return next;
}

function readVarint(reader: { readonly bytes: Uint8Array; at: number }): number {
  let value = 0;
  for (let i = 0; i < MAX_VARINT_BYTES && reader.at < reader.bytes.length; i += 1) {
    const byte = reader.bytes[reader.at++];
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return value;
  }
  throw new RangeError('packed column has a damaged run length');
}
