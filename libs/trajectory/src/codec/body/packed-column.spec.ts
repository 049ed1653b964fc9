import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packColumn, unpackColumn, type TypedColumn } from './packed-column.js';

const bitsOf = (column: TypedColumn): string =>
  Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString('hex');

/** Equal to the last bit, NaN payloads and −0 included. */
function expectRoundTrip(column: TypedColumn): void {
  const unpacked = unpackColumn(packColumn(column));
  expect(unpacked.constructor).toBe(column.constructor);
  expect(bitsOf(unpacked)).toBe(bitsOf(column));
}

/** Stretches of equal elements, as token columns have them. */
function runs<T>(element: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc
    .array(fc.tuple(element, fc.integer({ min: 1, max: 300 })), { maxLength: 6 })
    .map((stretches) => stretches.flatMap(([value, length]) => new Array<T>(length).fill(value)));
}

const anyInt = fc.oneof(fc.integer({ min: -1, max: 70_000 }), fc.integer());
const anyFloat = fc.oneof(fc.float(), fc.constantFrom(0, -0, NaN, Infinity, -Infinity));

describe('a packed column', () => {
  it.each([Uint8Array, Int32Array, Float32Array, Float64Array])(
    'unpacks to the same empty %o',
    (arrayClass) => {
      expectRoundTrip(new arrayClass(0));
    },
  );

  it('unpacks to the same column, bit by bit', () => {
    const column: fc.Arbitrary<TypedColumn> = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      runs(fc.nat(255)).map((values) => Uint8Array.from(values)),
      fc.array(anyInt).map((values) => Int32Array.from(values)),
      runs(anyInt).map((values) => Int32Array.from(values)),
      fc.array(anyFloat).map((values) => Float32Array.from(values)),
      runs(anyFloat).map((values) => Float32Array.from(values)),
      fc.array(fc.double()).map((values) => Float64Array.from(values)),
      runs(fc.double()).map((values) => Float64Array.from(values)),
    );
    fc.assert(fc.property(column, expectRoundTrip), { numRuns: 500 });
  });

  it.each([-1, 0, 255, 256, 511, 65_535, 65_536, 2 ** 31 - 1, -(2 ** 31)])(
    'keeps the integer %i',
    (value) => {
      expectRoundTrip(Int32Array.of(0, value, 1));
    },
  );

  it('keeps the payload of NaNs', () => {
    const bits = Uint32Array.of(0x7fc0_0001, 0x7fc0_0001, 0x7fc0_0001, 0xffc0_0000, 0x7fc0_0000);
    expectRoundTrip(new Float32Array(bits.buffer));
  });

  it('unpacks to the same elements for a view into a larger buffer', () => {
    expectRoundTrip(new Float32Array(Float32Array.of(9, 9, 1, 2, 3, 9).buffer, 8, 3));
  });

  it.each<[string, TypedColumn, number]>([
    // Type, width, three varints, then the elements that are stored.
    ['a constant column', new Int32Array(26).fill(3), 5 + 1],
    ['a constant −1', new Int32Array(26).fill(-1), 5 + 4],
    ['zeros, then ones', Uint8Array.from({ length: 26 }, (_, t) => (t < 20 ? 0 : 1)), 5 + 2],
    ['zeros, then two floats', Float32Array.from({ length: 26 }, (_, t) => (t < 24 ? 0 : -t)), 5 + 4 + 8],
    ['ids below 256', Int32Array.from({ length: 26 }, (_, t) => t * 9), 5 + 26],
    ['ids below 65,536', Int32Array.from({ length: 26 }, (_, t) => t * 2_000), 5 + 52],
    ['larger ids', Int32Array.from({ length: 26 }, (_, t) => t * 5_000), 5 + 104],
    ['a long constant column', new Float32Array(512).fill(1), 6 + 4],
  ])('stores %s in %3$i bytes', (_title, column, sizeBytes) => {
    expect(packColumn(column)).toHaveLength(sizeBytes);
  });

  it('shares no memory with the bytes it was unpacked from', () => {
    const packed = packColumn(Float32Array.of(1, 2, 3));
    const unpacked = unpackColumn(packed);
    packed.fill(0);
    expect([...unpacked]).toEqual([1, 2, 3]);
  });

  it.each([
    ['nothing', []],
    ['an unknown element type', [9, 1, 0, 0, 0]],
    ['a width that its type has not', [3, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['a run length that never ends', [2, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ['fewer bytes than it says', [2, 4, 0, 2, 0, 1, 2, 3, 4]],
    ['more bytes than it says', [1, 1, 0, 1, 0, 5, 5]],
    ['more elements than any context has', [1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 7]],
    ['runs of float64', [4, 8, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ])('made of %s is refused', (_title, bytes) => {
    expect(() => unpackColumn(Uint8Array.from(bytes))).toThrow(RangeError);
  });
});
