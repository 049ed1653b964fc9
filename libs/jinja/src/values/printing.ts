/** Values as text: Python's `str` and `repr`. */
import { takeSize } from '../meter.js';
import { isText, plainText, traced, type Text } from './traced-text.js';
import {
  Callable,
  Dict,
  DictView,
  Instance,
  isList,
  Lazy,
  findOrigin,
  NumberRange,
  Tuple,
  Undefined,
  type Value,
} from './value.js';

/** Python's `str(value)`. */
export function str(value: Value): Text {
  if (isText(value)) return value;
  if (value instanceof Undefined) return '';
  return traced(repr(value), findOrigin(value));
}

/** Python's `repr(value)`. */
export function repr(value: Value): string {
  const text = written(value);
  takeSize(text.length);
  return text;
}

function written(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return reprFloat(value);
  if (isText(value)) return reprText(plainText(value));
  if (isList(value)) return `[${value.map(repr).join(', ')}]`;
  if (value instanceof Tuple)
    return `(${value.items.map(repr).join(', ')}${value.items.length === 1 ? ',' : ''})`;
  if (value instanceof Dict)
    return `{${[...value.entries].map(([key, item]) => `${repr(key)}: ${repr(item)}`).join(', ')}}`;
  if (value instanceof DictView) return `${value.kind}(${written(value.values)})`;
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof NumberRange) {
    const step = value.step === 1n ? '' : `, ${value.step}`;
    return `range(${value.start}, ${value.stop}${step})`;
  }
  return `<${otherName(value)}>`;
}

function otherName(value: Callable | Instance | Lazy): string {
  if (value instanceof Callable) return `${value.kind} ${value.name}`;
  const content = value instanceof Instance ? value.parts.content : undefined;
  return content ? `${value.kind} ${repr(content())}` : `${value.kind} object`;
}

/** The shortest digits that read back as the number, in Python's notation. */
export function reprFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const [digits, power] = value.toExponential().split('e');
  const exponent = Number(power);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${Object.is(value, -0) ? '-' : ''}${digits}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const plain = digits.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${plain}`;
  const whole = plain.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${plain.slice(exponent + 1) || '0'}`;
}

const NOT_PRINTABLE = /[\p{C}\p{Z}]/u;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
};

function reprText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const character of text) {
    const isEscaped = character === quote;
    const isShown = character === ' ' || !NOT_PRINTABLE.test(character);
    out += isEscaped
      ? `\\${character}`
      : (SHORT_ESCAPES[character] ?? (isShown ? character : escaped(character)));
  }
  return out + quote;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
