/** Python's `str.format`, as Jinja's sandbox allows it: no attribute whose name begins with "_". */
import { fail } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import { asNumber } from '../values/comparison.js';
import { repr, reprFloat, str } from '../values/printing.js';
import { isText, joinTexts, plainText, sliceText, traced, type Text } from '../values/traced-text.js';
import { findOrigin, type NamedValues, type Value } from '../values/value.js';
import { formatNumber, padZeros } from './percent-format.js';

export interface FormatValues {
  readonly args: readonly Value[];
  readonly named: NamedValues;
  readonly attribute: (value: Value, name: string) => Value;
  readonly item: (value: Value, key: Value) => Value;
}

/** @throws JinjaError for a broken format or missing value */
export function formatBraces(text: Text, values: FormatValues): Text {
  let numAutomatic = 0;
  const fill = (source: Text): Text => {
    const parts: Text[] = [];
    const plain = plainText(source);
    let at = 0;
    while (at < plain.length) {
      const brace = /[{}]/.exec(plain.slice(at));
      if (!brace) break;
      const open = at + brace.index;
      parts.push(sliceText(source, at, open));
      if (plain[open] === plain[open + 1]) {
        parts.push(plain[open]);
        at = open + 2;
        continue;
      }
      const close = plain[open] === '{' ? closingBrace(plain, open) : -1;
      if (close < 0) fail('ValueError', `Single '${plain[open]}' encountered in format string`);
      const field = /^([^!:]*)(?:!([rsa]))?(?::([^]*))?$/.exec(plain.slice(open + 1, close));
      if (!field) return fail('ValueError', "expected ':' after conversion specifier");
      const [, name, conversion, rule] = field as readonly (string | undefined)[];
      const path =
        name === '' || /^[.[]/.test(name as string) ? `${numAutomatic++}${name}` : (name as string);
      const value = lookUp(path, values);
      const shown =
        conversion === undefined
          ? value
          : conversion === 's'
            ? str(value)
            : traced(repr(value), findOrigin(value));
      parts.push(formatValue(shown, plainText(fill(rule ?? ''))));
      at = close + 1;
    }
    return joinTexts([...parts, sliceText(source, at)]);
  };
  return fill(text);
}

function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return at;
  }
  return -1;
}

function lookUp(path: string, { args, named, attribute, item }: FormatValues): Value {
  const [, first, rest] = /^([^.[]*)([^]*)$/.exec(path) as RegExpExecArray;
  const found = /^\d+$/.test(first) ? args.at(Number(first)) : named.get(first);
  if (found === undefined)
    return fail(/^\d+$/.test(first) ? 'IndexError' : 'KeyError', `no value for {${first}}`);
  let value = found;
  for (const [, name, key] of rest.matchAll(/\.([^.[]*)|\[([^\]]*)\]/g)) {
    value = name !== undefined ? attribute(value, name) : item(value, /^\d+$/.test(key) ? BigInt(key) : key);
  }
  return value;
}

const RULE = /^(?:([^])?([<>=^]))?([-+ ]?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([a-zA-Z%]?)$/u;

/** Python's `format(value, rule)`. */
export function formatValue(value: Value, rule: string): Text {
  if (rule === '') return str(value);
  const parsed = RULE.exec(rule);
  if (!parsed) return fail('ValueError', `Invalid format specifier '${rule}'`);
  const [, fillBy, align, sign, alternate, zero, width, grouping, precision, kind] = parsed as readonly (
    | string
    | undefined
  )[];
  const number = isText(value) ? null : asNumber(value);
  const exact = precision === undefined ? null : Number(precision);
  let text: Text;
  if (number === null) {
    const whole = str(value);
    const end = exact === null ? undefined : [...plainText(whole)].slice(0, exact).join('').length;
    text = sliceText(whole, 0, end);
  } else {
    const style = { precision: exact, sign: sign || '-', isAlternate: alternate === '#' };
    text = grouped(numberText(number, kind as string, style), grouping as string);
  }
  const missing = Number(width || 0) - [...plainText(text)].length;
  if (missing <= 0) return text;
  takeSize(missing);
  const fill = fillBy ?? (zero === '0' ? '0' : ' ');
  const side = align ?? (number === null ? '<' : zero === '0' ? '=' : '>');
  if (side === '=')
    return fill === '0' ? padZeros(plainText(text), missing) : joinTexts([fill.repeat(missing), text]);
  const left = side === '<' ? 0 : side === '>' ? missing : Math.floor(missing / 2);
  return joinTexts([fill.repeat(left), text, fill.repeat(missing - left)]);
}

function numberText(
  number: bigint | number,
  kind: string,
  style: Omit<Parameters<typeof formatNumber>[1], 'kind'>,
): string {
  if (kind !== '') return formatNumber(number, { ...style, kind });
  if (typeof number === 'bigint') return formatNumber(number, { ...style, kind: 'd' });
  if (style.precision !== null) return formatNumber(number, { ...style, kind: 'g' });
  return number >= 0 && style.sign !== '-' ? style.sign + reprFloat(number) : reprFloat(number);
}

function grouped(text: string, separator: string): string {
  return separator === ''
    ? text
    : text.replace(/^([-+ ]?)(\d+)/, (_, sign: string, digits: string) => {
        return sign + digits.replace(/\B(?=(?:\d{3})+$)/g, separator);
      });
}
