/** Python's arithmetic and its access to items. */
import { fail, JinjaError } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import type { BinaryOperator } from '../syntax/nodes.js';
import { countCharacters, toOffset } from '../values/characters.js';
import { asNumber } from '../values/comparison.js';
import { isText, joinTexts, plainText, sliceText } from '../values/traced-text.js';
import {
  Dict,
  isList,
  countItems,
  NumberRange,
  sequenceItems,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from '../values/value.js';
import { formatPercent } from './percent-format.js';

/** @throws JinjaError where Python has no such operation */
export function binary(operator: BinaryOperator, left: Value, right: Value): Value {
  if (left instanceof Undefined) return left.refuse();
  if (operator === '%' && isText(left)) return formatPercent(left, right);
  if (right instanceof Undefined) return right.refuse();
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a !== null && b !== null) return arithmetic(operator, a, b);
  if (operator === '+') {
    if (isText(left) && isText(right)) return joinTexts([left, right]);
    if (isList(left) && isList(right)) return joined(left, right);
    if (left instanceof Tuple && right instanceof Tuple) return new Tuple(joined(left.items, right.items));
    if (isText(left)) fail('TypeError', `can only concatenate str (not "${typeName(right)}") to str`);
  }
  if (operator === '*') {
    if (typeof b === 'bigint') return repeated(left, b) ?? unsupported(operator, left, right);
    if (typeof a === 'bigint') return repeated(right, a) ?? unsupported(operator, left, right);
  }
  return unsupported(operator, left, right);
}

function unsupported(operator: string, left: Value, right: Value): never {
  return fail(
    'TypeError',
    `unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`,
  );
}

function joined(left: readonly Value[], right: readonly Value[]): readonly Value[] {
  takeSize(left.length + right.length);
  return [...left, ...right];
}

function repeated(value: Value, times: bigint): Value | null {
  const items = sequenceItems(value);
  if (!isText(value) && !items) return null;
  const count = Number(times < 0n ? 0n : times);
  takeSize(count * (isText(value) ? plainText(value).length : (items as readonly Value[]).length));
  if (isText(value))
    return joinTexts(Array.from({ length: plainText(value) === '' ? 0 : count }, () => value));
  const all =
    (items as readonly Value[]).length === 0
      ? []
      : Array.from({ length: count }, () => items as readonly Value[]).flat();
  return isList(value) ? all : new Tuple(all);
}

const MAX_BITS = 100_000n;

function arithmetic(operator: BinaryOperator, a: bigint | number, b: bigint | number): Value {
  if (['/', '//', '%'].includes(operator) && b == 0) fail('ZeroDivisionError', 'division by zero');
  if (typeof a === 'bigint' && typeof b === 'bigint' && operator !== '/' && !(operator === '**' && b < 0n))
    return wholeArithmetic(operator, a, b);
  const [x, y] = [Number(a), Number(b)];
  switch (operator) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return x / y;
    case '//':
      return wholeQuotient(x, y);
    case '%':
      return remainder(x, y);
    case '**':
      return x ** y;
  }
}

/** Python's remainder of floats, which has the sign of the divisor. */
function remainder(x: number, y: number): number {
  const rest = x % y;
  if (rest === 0) return y < 0 ? -0 : 0;
  return rest < 0 === y < 0 ? rest : rest + y;
}

function wholeQuotient(x: number, y: number): number {
  const quotient = (x - remainder(x, y)) / y;
  const whole = Math.floor(quotient);
  if (quotient === 0) return x / y < 0 || Object.is(x / y, -0) ? -0 : 0;
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

function wholeArithmetic(operator: Exclude<BinaryOperator, '/'> | '/', a: bigint, b: bigint): bigint {
  const remainder = operator === '//' || operator === '%' ? a % b : 0n;
  const isOff = remainder !== 0n && remainder < 0n !== b < 0n;
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      takeSize((a.toString(16).length + b.toString(16).length) / 4);
      return a * b;
    case '//':
      return isOff ? a / b - 1n : a / b;
    case '%':
      return isOff ? remainder + b : remainder;
    default:
      if (BigInt(a.toString(2).length) * b > MAX_BITS)
        throw new JinjaError('LIMIT', 'it makes a number that is too large');
      return a ** b;
  }
}

export function negative(value: Value): Value {
  if (value instanceof Undefined) return value.refuse();
  const number = asNumber(value);
  return number === null ? fail('TypeError', `bad operand type for unary -: '${typeName(value)}'`) : -number;
}

export function positive(value: Value): Value {
  if (value instanceof Undefined) return value.refuse();
  return asNumber(value) ?? fail('TypeError', `bad operand type for unary +: '${typeName(value)}'`);
}

/** Python's `value[key]`; undefined where it has no such item. */
export function readItem(value: Value, key: Value): Value | undefined {
  if (value instanceof Undefined) return value.refuse();
  if (value instanceof Dict)
    return key instanceof Undefined || sequenceItems(key) || key instanceof Dict ? undefined : value.get(key);
  const place = typeof key === 'number' ? null : asNumber(key);
  if (place === null) return undefined;
  const items = sequenceItems(value);
  if (!items && !isText(value) && !(value instanceof NumberRange)) return undefined;
  const length = countItems(value);
  const at = Number(place) < 0 ? Number(place) + length : Number(place);
  if (at < 0 || at >= length) return undefined;
  if (items) return items[at];
  if (value instanceof NumberRange) return value.at(at);
  return isText(value) ? sliceCharacters(value, at, at + 1) : undefined;
}

/** A part of a text, by code points. */
export function sliceCharacters(
  text: Parameters<typeof sliceText>[0],
  start: number,
  end: number,
): ReturnType<typeof sliceText> {
  const plain = plainText(text);
  return sliceText(text, toOffset(plain, start), toOffset(plain, end));
}

/** Python's `value[start:stop:step]`. @throws JinjaError for what has no slices */
export function slice(value: Value, bounds: readonly (Value | null)[]): Value {
  if (value instanceof Undefined) return value.refuse();
  const items = sequenceItems(value);
  if (!items && !isText(value) && !(value instanceof NumberRange))
    return fail('TypeError', `'${typeName(value)}' object can't be sliced`);
  const length = isText(value) ? countCharacters(plainText(value)) : countItems(value);
  const [start, stop, step] = sliceBounds(bounds, length);
  if (isText(value) && step === 1) return sliceCharacters(value, start, Math.max(start, stop));
  const places: number[] = [];
  for (let n = start; step > 0 ? n < stop : n > stop; n += step) places.push(n);
  takeSize(places.length);
  if (isText(value)) return joinTexts(places.map((n) => sliceCharacters(value, n, n + 1)));
  const chosen = places.map((n) => (items ? items[n] : (value as NumberRange).at(n)));
  return value instanceof Tuple ? new Tuple(chosen) : chosen;
}

function sliceBounds(bounds: readonly (Value | null)[], length: number): readonly [number, number, number] {
  const [from, to, by] = bounds.map((bound) => {
    const number = bound === null || typeof bound === 'number' ? null : asNumber(bound);
    if (bound !== null && number === null)
      fail('TypeError', 'slice indices must be integers or None or have an __index__ method');
    return number === null ? null : Number(number);
  });
  const step = by ?? 1;
  if (step === 0) fail('ValueError', 'slice step cannot be zero');
  const clamp = (n: number) => {
    const at = n < 0 ? n + length : n;
    return step > 0 ? Math.min(Math.max(at, 0), length) : Math.min(Math.max(at, -1), length - 1);
  };
  const start = from === null ? (step > 0 ? 0 : length - 1) : clamp(from);
  const stop = to === null ? (step > 0 ? length : -1) : clamp(to);
  return [start, stop, step];
}
