import fc from 'fast-check';
import type { ArrayType, EventField, EventFields, Shape } from '../fields/field.js';

/** Random values of a field, as its declaration allows them. */

/** Objects with the ordinary prototype, as from JSON. */
export const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true });

const TEXTS = {
  any: fc.string({ unit: 'grapheme', maxLength: 30 }),
  nonEmpty: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
  uuid: fc.uuid(),
  sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
};

export const text = TEXTS.any;
export const nonEmptyText = TEXTS.nonEmpty;
export const natural = fc.maxSafeNat();
export const int32 = fc.integer({ min: 0, max: 2 ** 31 - 1 });

export const json = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 3 })
  .filter((value) => !JSON.stringify(value).includes('__proto__'))
  // An object whose fields have the plain order that the codec gives them.
  .map((value) => JSON.parse(JSON.stringify(value)) as never);

/** Finite, without −0, which comes back as 0. */
export function real(min = -Infinity, max = Infinity): fc.Arbitrary<number> {
  const bounds = { ...(min > -Infinity && { min }), ...(max < Infinity && { max }) };
  return fc.double({ ...bounds, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
}

/** Typed arrays of up to `maxLength` elements, any that their class can have and, in integers, no negative ones. */
const ARRAYS: Readonly<Record<ArrayType, fc.Arbitrary<unknown>>> = {
  Int32Array: fc.array(int32, { maxLength: 6 }).map((values) => Int32Array.from(values)),
  Uint8Array: fc.uint8Array({ maxLength: 6 }).map((values) => Uint8Array.from(values)),
  Float32Array: fc.float32Array({ maxLength: 6 }).map((values) => Float32Array.from(values)),
  Float64Array: fc.array(fc.double(), { maxLength: 6 }).map((values) => Float64Array.from(values)),
};

/** Any value of a field. */
export function anyValue({ shape, isNullable }: EventField<unknown>): fc.Arbitrary<unknown> {
  const present = anyOfShape(shape);
  return isNullable ? fc.option(present) : present;
}

/** Any object of these fields; fields that depend on each other do not. */
export function anyObject(fields: EventFields): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  return record(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, anyValue(field)])));
}

function anyOfShape(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.form) {
    case 'text':
      return TEXTS[shape.of];
    case 'word':
      return fc.constantFrom(...shape.words);
    case 'flag':
      return fc.boolean();
    case 'integer':
      return natural.map((value) => Math.max(shape.min, value));
    case 'real':
      return real(shape.min, shape.max);
    case 'json':
      return json;
    case 'list':
      return fc.array(anyValue(shape.element), { maxLength: 3 });
    case 'object':
      return anyObject(shape.fields);
    case 'array':
      return ARRAYS[shape.type];
  }
}
