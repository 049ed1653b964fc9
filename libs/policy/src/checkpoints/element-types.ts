/** Bytes of one element of each type of a safetensors file. */
export const ELEMENT_BYTES: Readonly<Record<string, number>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
};

/** Types that can be read as float32. */
export const READABLE_TYPES = ['F32', 'F16', 'BF16'] as const;

export type ReadableType = (typeof READABLE_TYPES)[number];

export function isReadableType(type: string): type is ReadableType {
  return (READABLE_TYPES as readonly string[]).includes(type);
}

/** The bytes of an array, without a copy. */
export function viewBytes(values: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Decodes all elements of `bytes`, which need not be aligned, into `values`. */
export function decodeElements(type: ReadableType, bytes: Uint8Array, values: Float32Array): void {
  if (type === 'F32') {
    new Uint8Array(values.buffer, values.byteOffset, values.byteLength).set(bytes);
    return;
  }
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  const halves = new Uint16Array(aligned.buffer, aligned.byteOffset, values.length);
  if (type === 'BF16') {
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let i = 0; i < halves.length; i++) bits[i] = halves[i] << 16;
    return;
  }
  const table = float16Values();
  for (let i = 0; i < halves.length; i++) values[i] = table[halves[i]];
}

/** The bfloat16 bits nearest to each float32 value, ties to even; NaN stays NaN. */
export function toBfloat16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) {
    const isNaN = (bits[i] & 0x7fffffff) > 0x7f800000;
    halves[i] = isNaN ? (bits[i] >>> 16) | 0x40 : (bits[i] + 0x7fff + ((bits[i] >>> 16) & 1)) >>> 16;
  }
  return halves;
}

/** Finds the first NaN or infinity; −1 if all values are finite. */
export function firstNotFinite(values: Float32Array): number {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < bits.length; i++) if ((bits[i] & 0x7f800000) === 0x7f800000) return i;
  return -1;
}

let float16Table: Float32Array | null = null;

/** The values of all 2¹⁶ bit patterns. */
function float16Values(): Float32Array {
  float16Table ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return float16Table;
}
