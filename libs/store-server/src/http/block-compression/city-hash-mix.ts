const CHUNK_BYTES = 128;

// Indices of 64-bit words among the halves: the low half, then the high one. A to D are scratch words.
const [X, Y, Z, V0, V1, W0, W1, A, B, C, D] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20];
const NUM_WORDS = 11;

/** 0xb492b66fbe98f273, in halves; the low one in quarters. */
const K1_LOW = 0xbe98f273;
const K1_HIGH = 0xb492b66f;
const K1_LOW_0 = K1_LOW & 0xffff;
const K1_LOW_1 = K1_LOW >>> 16;

/**
 * Runs the inner loop of CityHash128, version 1.0.2, over all whole chunks of 128 bytes from `start` on. It works on halves of words,
 * because a bigint needs an allocation per operation, which is several times slower.
 *
 * @param state the seven words X, Y, Z, V0, V1, W0, W1 that are carried from chunk to chunk
 * @returns the words after the chunks, and the position behind them
 */
export function mixWhole(
  data: DataView,
  start: number,
  state: readonly bigint[],
): { readonly at: number; readonly words: BigUint64Array } {
  const words = new BigUint64Array(NUM_WORDS);
  words.set(state);
  const r = new Int32Array(words.buffer);
  let at = start;
  for (; data.byteLength - at >= CHUNK_BYTES; at += CHUNK_BYTES) {
    mixHalf(r, data, at);
    mixHalf(r, data, at + CHUNK_BYTES / 2);
  }
  return { at, words };
}

function mixHalf(r: Int32Array, data: DataView, at: number): void {
  add(r, X, Y);
  add(r, X, V0);
  addRead(r, X, data, at + 16);
  rotate(r, X, 37);
  multiplyByK1(r, X);
  add(r, Y, V1);
  addRead(r, Y, data, at + 48);
  rotate(r, Y, 42);
  multiplyByK1(r, Y);
  xor(r, X, W1);
  xor(r, Y, V0);
  xor(r, Z, W0);
  rotate(r, Z, 33);

  copy(r, A, V1);
  multiplyByK1(r, A);
  copy(r, B, X);
  add(r, B, W0);
  weakHash32(r, data, at);
  copy(r, V0, A);
  copy(r, V1, B);

  copy(r, A, Z);
  add(r, A, W1);
  copy(r, B, Y);
  weakHash32(r, data, at + 32);
  copy(r, W0, A);
  copy(r, W1, B);

  copy(r, A, Z);
  copy(r, Z, X);
  copy(r, X, A);
}

/** Hashes 32 bytes of the data and the seeds in A and B into A and B. */
function weakHash32(r: Int32Array, data: DataView, at: number): void {
  addRead(r, A, data, at);
  add(r, B, A);
  addRead(r, B, data, at + 24);
  rotate(r, B, 21);
  copy(r, C, A);
  addRead(r, A, data, at + 8);
  addRead(r, A, data, at + 16);
  copy(r, D, A);
  rotate(r, D, 44);
  add(r, B, D);
  add(r, B, C);
  addRead(r, A, data, at + 24);
}

function copy(r: Int32Array, to: number, from: number): void {
  r[to] = r[from];
  r[to + 1] = r[from + 1];
}

function xor(r: Int32Array, to: number, from: number): void {
  r[to] ^= r[from];
  r[to + 1] ^= r[from + 1];
}

function add(r: Int32Array, to: number, from: number): void {
  addHalves(r, to, r[from], r[from + 1]);
}

function addRead(r: Int32Array, to: number, data: DataView, at: number): void {
  addHalves(r, to, data.getInt32(at, true), data.getInt32(at + 4, true));
}

function addHalves(r: Int32Array, to: number, low: number, high: number): void {
  const sum = (r[to] + low) | 0;
  const carry = sum >>> 0 < low >>> 0 ? 1 : 0;
  r[to] = sum;
  r[to + 1] = (r[to + 1] + high + carry) | 0;
}

/** Rotates to the right, by 1 to 63 except 32. */
function rotate(r: Int32Array, at: number, by: number): void {
  const low = by < 32 ? r[at] : r[at + 1];
  const high = by < 32 ? r[at + 1] : r[at];
  const right = by & 31;
  r[at] = (low >>> right) | (high << (32 - right));
  r[at + 1] = (high >>> right) | (low << (32 - right));
}

function multiplyByK1(r: Int32Array, at: number): void {
  const low = r[at];
  const low0 = low & 0xffff;
  const low1 = low >>> 16;
  // No sum here exceeds 32 bits: (2¹⁶ − 1)² + 2 (2¹⁶ − 1) is 2³² − 1.
  const mid = low1 * K1_LOW_0 + (Math.imul(low0, K1_LOW_0) >>> 16);
  const cross = low0 * K1_LOW_1 + (mid & 0xffff);
  const carried = low1 * K1_LOW_1 + (mid >>> 16) + (cross >>> 16);
  r[at] = Math.imul(low, K1_LOW);
  r[at + 1] = (carried + Math.imul(low, K1_HIGH) + Math.imul(r[at + 1], K1_LOW)) | 0;
}
