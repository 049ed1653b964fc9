import type { Json } from '@retrace/trajectory';

/** A type whose values hold 64-bit integers (or wider) and no text that could look like one. */
const HOLDS_WIDE_INTEGERS = /Int(64|128|256)/;
const HOLDS_TEXT = /String|UUID|Enum|Date|IPv|JSON|Dynamic|Variant/;
const INTEGER = /^-?\d+$/;

/**
 * Reads back the 64-bit integers that the store wrote as text: as numbers where a number is exact, as text otherwise.
 *
 * @param type the column's type, as the store names it
 */
export function integerReader(type: string): (value: Json) => Json {
  return HOLDS_WIDE_INTEGERS.test(type) && !HOLDS_TEXT.test(type) ? exactNumbers : (value) => value;
}

function exactNumbers(value: Json): Json {
  if (isArray(value)) return value.map(exactNumbers);
  if (typeof value !== 'string' || !INTEGER.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** `Array.isArray` for JSON: it does not narrow a union with a readonly array. */
function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
