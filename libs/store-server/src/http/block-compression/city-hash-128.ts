import { mixWhole } from './city-hash-mix.js';

/**
 * CityHash128 in ClickHouse's version: 1.0.2 of 2011, whose results differ from those of later versions.
 *
 * Geoff Pike and Jyrki Alakuijala, Google, MIT licence: https://github.com/ClickHouse/cityhash102
 */

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const K3 = 0xc949d7c7509e6557n;
/** Multiplier of Murmur's step from 128 bits to 64. */
const K_MUL = 0x9ddfea08eb382d69n;

/** Returns the hash in ClickHouse's byte order: its low half, then its high half, each little endian. */
export function cityHash128(bytes: Uint8Array): Buffer {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.byteLength;
  let low: bigint;
  let high: bigint;
  if (length >= 16) [low, high] = withSeed(data, 16, read64(data, 0) ^ K3, read64(data, 8));
  else if (length >= 8) {
    const seed = read64(data, 0) ^ wrap(BigInt(length) * K0);
    [low, high] = withSeed(data, length, seed, read64(data, length - 8) ^ K1);
  } else [low, high] = withSeed(data, 0, K0, K1);
  const hash = Buffer.allocUnsafe(16);
  hash.writeBigUInt64LE(low, 0);
  hash.writeBigUInt64LE(high, 8);
  return hash;
}

type Pair = readonly [low: bigint, high: bigint];

/** Hashes the bytes from `start` on. */
function withSeed(data: DataView, start: number, seedLow: bigint, seedHigh: bigint): Pair {
  const end = data.byteLength;
  if (end - start < 128) return murmur(data, start, seedLow, seedHigh);
  const startZ = wrap(BigInt(end - start) * K1);
  const startV = wrap(rotate(seedHigh ^ K1, 49n) * K1 + read64(data, start));
  const startV1 = wrap(rotate(startV, 42n) * K1 + read64(data, start + 8));
  const startW0 = wrap(rotate(wrap(seedHigh + startZ), 35n) * K1 + seedLow);
  const startW1 = wrap(rotate(wrap(seedLow + read64(data, start + 88)), 53n) * K1);
  const state = [seedLow, seedHigh, startZ, startV, startV1, startW0, startW1];
  const { at, words } = mixWhole(data, start, state);
  const [endX, endY, z, endV0, endV1, endW0, w1] = words;
  let y = wrap(endY + rotate(endW0, 37n) * K0 + z);
  let x = wrap(endX + rotate(wrap(endV0 + z), 49n) * K0);
  let [v0, v1, w0] = [endV0, endV1, endW0];
  // The remaining bytes, in pieces of 32 from the end; the last piece overlaps bytes that were hashed already.
  for (let done = 0; done < end - at;) {
    done += 32;
    y = wrap(rotate(wrap(y - x), 42n) * K0 + v1);
    w0 = wrap(w0 + read64(data, end - done + 16));
    x = wrap(rotate(x, 49n) * K0 + w0);
    w0 = wrap(w0 + v0);
    [v0, v1] = weakHash32(data, end - done, v0, v1);
  }
  x = hash16(x, v0);
  y = hash16(y, w0);
  return [wrap(hash16(wrap(x + v1), w1) + y), hash16(wrap(x + w1), wrap(y + v1))];
}

/** Hashes less than 128 bytes, by a mixture of City and Murmur. */
function murmur(data: DataView, start: number, seedLow: bigint, seedHigh: bigint): Pair {
  const end = data.byteLength;
  const length = end - start;
  let a = seedLow;
  let b = seedHigh;
  let c: bigint;
  let d: bigint;
  if (length <= 16) {
    a = wrap(shiftMix(wrap(a * K1)) * K1);
    c = wrap(b * K1 + hash0to16(data, start, length));
    d = shiftMix(wrap(a + (length >= 8 ? read64(data, start) : c)));
  } else {
    c = hash16(wrap(read64(data, end - 8) + K1), a);
    d = hash16(wrap(b + BigInt(length)), wrap(c + read64(data, end - 16)));
    a = wrap(a + d);
    for (let at = start, left = length - 16; left > 0; at += 16, left -= 16) {
      a = wrap((a ^ wrap(shiftMix(wrap(read64(data, at) * K1)) * K1)) * K1);
      b ^= a;
      c = wrap((c ^ wrap(shiftMix(wrap(read64(data, at + 8) * K1)) * K1)) * K1);
      d ^= c;
    }
  }
  a = hash16(a, c);
  b = hash16(d, b);
  return [a ^ b, hash16(b, a)];
}

function hash0to16(data: DataView, start: number, length: number): bigint {
  const end = start + length;
  const size = BigInt(length);
  if (length > 8) {
    const last = read64(data, end - 8);
    return hash16(read64(data, start), rotate(wrap(last + size), size)) ^ last;
  }
  if (length >= 4) {
    const first = BigInt(data.getUint32(start, true));
    return hash16(wrap(size + (first << 3n)), BigInt(data.getUint32(end - 4, true)));
  }
  if (length > 0) {
    const y = BigInt(data.getUint8(start) + (data.getUint8(start + (length >> 1)) << 8));
    const z = BigInt(length + (data.getUint8(end - 1) << 2));
    return wrap(shiftMix(wrap(y * K2) ^ wrap(z * K3)) * K2);
  }
  return K2;
}

/** Hashes 48 bytes quickly and weakly into 16: 32 of the data, and two seeds. */
function weakHash32(data: DataView, at: number, seedA: bigint, seedB: bigint): Pair {
  const last = read64(data, at + 24);
  const a = wrap(seedA + read64(data, at));
  const b = rotate(wrap(seedB + a + last), 21n);
  const sum = wrap(a + read64(data, at + 8) + read64(data, at + 16));
  return [wrap(sum + last), wrap(b + rotate(sum, 44n) + a)];
}

function hash16(low: bigint, high: bigint): bigint {
  let a = wrap((low ^ high) * K_MUL);
  a ^= a >> 47n;
  let b = wrap((high ^ a) * K_MUL);
  b ^= b >> 47n;
  return wrap(b * K_MUL);
}

function shiftMix(value: bigint): bigint {
  return value ^ (value >> 47n);
}

function rotate(value: bigint, by: bigint): bigint {
  return (value >> by) | wrap(value << (64n - by));
}

function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function read64(data: DataView, at: number): bigint {
  return data.getBigUint64(at, true);
}
