/** Python's formats: `"%5.2f" % value` and the mini-language of `format`. */
import { fail } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import { asNumber } from '../values/comparison.js';
import { repr, reprFloat, str } from '../values/printing.js';
import { joinTexts, plainText, sliceText, traced, type Text } from '../values/traced-text.js';
import {
  Dict,
  isList,
  findOrigin,
  NumberRange,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from '../values/value.js';

const DIRECTIVE = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([hlL]?)([^])/g;

export interface NumberStyle {
  /** `f`, `e`, `g`, `d`, `x` and so on. */
  readonly kind: string;
  readonly precision: number | null;
  readonly sign: string;
  readonly isAlternate: boolean;
}

/** `text % values`. @throws JinjaError for values that don't fit */
export function formatPercent(text: Text, values: Value): Text {
  const given = values instanceof Tuple ? [...values.items] : [values];
  let numUsed = 0;
  const next = () =>
    numUsed < given.length ? given[numUsed++] : fail('TypeError', 'not enough arguments for format string');
  const parts: Text[] = [];
  let at = 0;
  for (const found of plainText(text).matchAll(DIRECTIVE)) {
    parts.push(sliceText(text, at, found.index));
    at = found.index + found[0].length;
    const [, key, flags, width, precision, , kind] = found as readonly (string | undefined)[];
    if (kind === '%') {
      parts.push('%');
      continue;
    }
    const size = width === '*' ? Number(asNumber(next())) : Number(width ?? 0);
    const hasDot = /\.(?:\*|\d*)[hlL]?[^]$/.test(found[0]);
    const exact = precision === '*' ? Number(asNumber(next())) : hasDot ? Number(precision ?? 0) : null;
    const value = key === undefined ? next() : named(values, key);
    parts.push(
      padded(converted(value, kind as string, flags as string, exact), flags as string, size, kind as string),
    );
  }
  if (plainText(text).indexOf('%', at) >= 0) fail('ValueError', 'incomplete format');
  parts.push(sliceText(text, at));
  // A single value of which items can be asked may be left unused.
  const hasItems = isList(values) || [Dict, NumberRange, Undefined].some((kind) => values instanceof kind);
  if (numUsed < given.length && !hasItems)
    fail('TypeError', 'not all arguments converted during string formatting');
  return joinTexts(parts);
}

function named(values: Value, key: string): Value {
  if (!(values instanceof Dict)) return fail('TypeError', 'format requires a mapping');
  return values.get(key) ?? fail('KeyError', `'${key}'`);
}

function converted(value: Value, kind: string, flags: string, precision: number | null): Text {
  if (kind === 's' || kind === 'r' || kind === 'a') {
    const text = kind === 's' ? str(value) : traced(repr(value), findOrigin(value));
    return precision === null
      ? text
      : sliceText(text, 0, [...plainText(text)].slice(0, precision).join('').length);
  }
  if (kind === 'c') return typeof value === 'bigint' ? String.fromCodePoint(Number(value)) : str(value);
  if (value instanceof Undefined) return value.refuse();
  const number = asNumber(value);
  if (number === null)
    return fail('TypeError', `%${kind} format: a real number is required, not ${typeName(value)}`);
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '-';
  const whole = 'diuxXo'.includes(kind) && typeof number === 'number' ? BigInt(Math.trunc(number)) : number;
  return formatNumber(whole, {
    kind: 'iu'.includes(kind) ? 'd' : kind,
    precision,
    sign,
    isAlternate: flags.includes('#'),
  });
}

function padded(text: Text, flags: string, width: number, kind: string): Text {
  const missing = width - [...plainText(text)].length;
  if (missing <= 0) return text;
  takeSize(missing);
  if (flags.includes('-')) return joinTexts([text, ' '.repeat(missing)]);
  if (!flags.includes('0') || 'src'.includes(kind)) return joinTexts([' '.repeat(missing), text]);
  return padZeros(plainText(text), missing);
}

export function padZeros(text: string, count: number): string {
  const sign = /^[-+ ]?(?:0[xX])?/.exec(text)?.[0] ?? '';
  return sign + '0'.repeat(count) + text.slice(sign.length);
}

/** @throws JinjaError for an unknown kind */
export function formatNumber(
  value: bigint | number,
  { kind, precision, sign, isAlternate }: NumberStyle,
): string {
  const isNegative = value < 0 || Object.is(value, -0);
  const lead = isNegative ? '-' : sign === '-' ? '' : sign;
  const size = isNegative ? -value : value;
  return lead + unsigned(size, kind, precision, isAlternate);
}

function unsigned(
  value: bigint | number,
  kind: string,
  precision: number | null,
  isAlternate: boolean,
): string {
  const whole = typeof value === 'bigint' ? value : BigInt(Math.trunc(Number.isFinite(value) ? value : 0));
  const digits = (base: number, prefix: string) =>
    (isAlternate ? prefix : '') + whole.toString(base).padStart(precision ?? 0, '0');
  const number = Number(value);
  takeSize(precision ?? 0);
  switch (kind) {
    case 'd':
      return digits(10, '');
    case 'x':
      return digits(16, '0x');
    case 'X':
      return digits(16, '0X').toUpperCase();
    case 'o':
      return digits(8, '0o');
    case 'b':
      return digits(2, '0b');
    case 'f':
    case 'F':
      return Number.isFinite(number) ? fixed(value, precision ?? 6) : reprFloat(number);
    case '%':
      return `${fixed(number * 100, precision ?? 6)}%`;
    case 'e':
    case 'E':
    case 'g':
    case 'G': {
      const text =
        kind.toLowerCase() === 'e' ? scientific(number, precision ?? 6) : general(number, precision ?? 6);
      return kind === kind.toLowerCase() ? text : text.toUpperCase();
    }
    default:
      return fail('ValueError', `unsupported format character '${kind}'`);
  }
}

/** Rounds half to even on the exact binary value, which `toFixed` does too up to 100 digits and 1e21. */
function fixed(value: bigint | number, precision: number): string {
  if (typeof value === 'bigint') return value.toString() + (precision > 0 ? `.${'0'.repeat(precision)}` : '');
  if (Math.abs(value) >= 1e21)
    return BigInt(value).toString() + (precision > 0 ? `.${'0'.repeat(precision)}` : '');
  // toFixed rounds exact halves up; Python rounds them to the even digit.
  const text = value.toFixed(Math.min(precision, 100));
  const scaled = value * 10 ** precision;
  const isHalf =
    precision <= 15 &&
    Math.abs(scaled) < 2 ** 52 &&
    Math.abs(scaled % 1) === 0.5 &&
    scaled / 10 ** precision === value;
  const isExact = isHalf && Number.isInteger(value * 2 ** 40) && Number.isInteger(scaled * 2);
  if (!isExact || Math.floor(scaled) % 2 !== 0)
    return text.padEnd(text.length + Math.max(0, precision - 100), '0');
  return (Math.floor(scaled) / 10 ** precision).toFixed(precision);
}

function scientific(value: number, precision: number): string {
  if (!Number.isFinite(value)) return reprFloat(value);
  const [digits, power] = value.toExponential(Math.min(precision, 100)).split('e');
  const size = power.slice(1).padStart(2, '0');
  return `${digits}e${power[0]}${size}`;
}

function general(value: number, precision: number): string {
  if (!Number.isFinite(value)) return reprFloat(value);
  const digits = Math.max(precision, 1);
  const exponent = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1]);
  if (exponent >= -4 && exponent < digits)
    return withoutZeros(value.toFixed(Math.max(0, digits - 1 - exponent)));
  const [mantissa, power] = scientific(value, digits - 1).split('e');
  return `${withoutZeros(mantissa)}e${power}`;
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
}
