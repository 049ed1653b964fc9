/** Jinja's filters that make texts and numbers. */
import { fail } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import { countCharacters, isSpace } from '../values/characters.js';
import { asNumber } from '../values/comparison.js';
import { dumpJson, dumpOptions } from '../values/json.js';
import { str } from '../values/printing.js';
import { isText, joinTexts, originOfText, plainText, traced, type Text } from '../values/traced-text.js';
import {
  Dict,
  isTrue,
  Lazy,
  countItems,
  toList,
  findOrigin,
  NumberRange,
  sequenceItems,
  Tuple,
  Undefined,
  type Value,
} from '../values/value.js';
import { integerArgument, textArgument } from './arguments.js';
import { withParameters, type Filter } from './filter.js';
import { capitalized } from './letter-case.js';
import { sliceCharacters } from './operators.js';
import { formatNumber, formatPercent } from './percent-format.js';
import { pad, replaceText, split, splitLines, strip } from './text-methods.js';

function changing(change: (plain: string) => string): Filter {
  return withParameters([], (value) => {
    const text = str(value);
    return traced(change(plainText(text)), originOfText(text));
  });
}

/** Capital letters behind white space, hyphens and opening brackets; all others are made small. */
function titled(plain: string): string {
  let begins = true;
  let out = '';
  for (const character of plain) {
    out += begins ? character.toUpperCase() : character.toLowerCase();
    begins = '-({[<'.includes(character) || isSpace(character);
  }
  return out;
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};
const escaping = changing((plain) => plain.replace(/[&<>"']/g, (character) => HTML[character]));

const indent = withParameters(['width', 'first', 'blank'], (value, [width, first, blank]) => {
  const margin: Text =
    width !== undefined && isText(width)
      ? width
      : ' '.repeat(Math.max(0, integerArgument(width, 'width', 4)));
  takeSize(plainText(margin).length);
  const lines = splitLines(joinTexts([textArgument(value, 'indent'), '\n']));
  const indented = lines.map((line, n) => {
    const isIndented = n > 0 && (plainText(line) !== '' || (blank !== undefined && isTrue(blank)));
    return isIndented ? joinTexts([margin, line]) : line;
  });
  const text = joinTexts(indented, '\n');
  return first !== undefined && isTrue(first) ? joinTexts([margin, text]) : text;
});

const truncate = withParameters(
  ['length', 'killwords', 'end', 'leeway'],
  (value, [length, kills, end, leeway]) => {
    const most = integerArgument(length, 'length', 255);
    const mark = end === undefined ? '...' : textArgument(end, 'end');
    const room = most - countCharacters(plainText(mark));
    if (room < 0)
      fail('AssertionError', `expected length >= ${countCharacters(plainText(mark))}, got ${most}`);
    const extra = leeway === undefined || leeway === null ? 5 : integerArgument(leeway, 'leeway');
    if (countItems(value) <= most + extra) return value;
    const text = textArgument(value, 'truncate');
    const cut = sliceCharacters(text, 0, room);
    return joinTexts([kills !== undefined && isTrue(kills) ? cut : split(cut, ' ', 1, true)[0], mark]);
  },
);

function toInteger(value: Value, base: number): bigint | null {
  if (isText(value)) {
    const text = plainText(strip(value, undefined, 'both'));
    if (base === 10 && /^[-+]?\d+(?:_\d+)*$/.test(text)) return BigInt(text.replace(/[+_]/g, ''));
    if (base !== 10) return wholeIn(text, base) ?? toInteger(text, 10);
    const number = toFloat(text);
    return number !== null && Number.isFinite(number) ? BigInt(Math.trunc(number)) : null;
  }
  const number = asNumber(value);
  if (typeof number !== 'number') return number;
  if (Math.abs(number) === Infinity) fail('OverflowError', 'cannot convert float infinity to integer');
  return Number.isNaN(number) ? null : BigInt(Math.trunc(number));
}

function wholeIn(text: string, base: number): bigint | null {
  const [, sign, digits] = /^([-+]?)(?:0[bBoOxX])?([\da-zA-Z_]+)$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const parsed = [...digits.replaceAll('_', '').toLowerCase()].map((digit) => parseInt(digit, 36));
  if (parsed.some((digit) => digit >= base)) return null;
  const size = parsed.reduce((sum, digit) => sum * BigInt(base) + BigInt(digit), 0n);
  return sign === '-' ? -size : size;
}

function toFloat(value: Value): number | null {
  if (!isText(value)) {
    const number = asNumber(value);
    return number === null ? null : Number(number);
  }
  const text = plainText(strip(value, undefined, 'both')).replace(/(\d)_(?=\d)/g, '$1');
  if (/^[-+]?(?:inf(?:inity)?)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^[-+]?nan$/i.test(text)) return NaN;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : null;
}

const round = withParameters(['precision', 'method'], (value, [precision, method]) => {
  const digits = integerArgument(precision, 'precision', 0);
  const number = value instanceof Undefined ? value.refuse() : asNumber(value);
  if (number === null) return fail('TypeError', 'round needs a number');
  const way = method === undefined ? 'common' : plainText(str(method));
  if (!['common', 'ceil', 'floor'].includes(way))
    fail('FilterArgumentError', 'method must be common, ceil or floor');
  if (way === 'common') {
    if (typeof number === 'bigint' && digits >= 0) return number;
    if (digits < 0) {
      const unit = 10 ** -digits;
      const scaled = Number(
        formatNumber(Number(number) / unit, { kind: 'f', precision: 0, sign: '-', isAlternate: false }),
      );
      return typeof number === 'bigint' ? BigInt(scaled) * BigInt(unit) : scaled * unit;
    }
    if (!Number.isFinite(number)) return number;
    return Number(formatNumber(number, { kind: 'f', precision: digits, sign: '-', isAlternate: false }));
  }
  const scale = 10 ** digits;
  return (way === 'ceil' ? Math.ceil(Number(number) * scale) : Math.floor(Number(number) * scale)) / scale;
});

function fileSize(value: Value, isBinary: boolean): string {
  const size = toFloat(value) ?? fail('TypeError', 'filesizeformat needs a number');
  const base = isBinary ? 1024 : 1000;
  if (size === 1) return '1 Byte';
  if (size < base) return `${Math.trunc(size)} Bytes`;
  const prefixes = [...(isBinary ? 'KMGTPEZY' : 'kMGTPEZY')];
  const place = prefixes.findIndex((_, n) => size < base ** (n + 2));
  const at = place < 0 ? prefixes.length - 1 : place;
  const number = formatNumber((base * size) / base ** (at + 2), {
    kind: 'f',
    precision: 1,
    sign: '-',
    isAlternate: false,
  });
  return `${number} ${prefixes[at]}${isBinary ? 'iB' : 'B'}`;
}

function urlQuoted(value: Value, isQuery: boolean): string {
  const quoted = encodeURIComponent(plainText(str(value))).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return isQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/');
}

const urlencode = withParameters([], (value) => {
  if (isText(value) || !isIterable(value)) return traced(urlQuoted(value, false), findOrigin(value));
  const pairs = value instanceof Dict ? value.items() : toList(value);
  const fields = pairs.map((pair) => {
    const parts = [...toList(pair)];
    if (parts.length !== 2) fail('ValueError', `a pair has ${parts.length} values`);
    return parts.map((part) => urlQuoted(part, true)).join('=');
  });
  return traced(fields.join('&'), findOrigin(value));
});

function isIterable(value: Value): boolean {
  return (
    sequenceItems(value) !== null ||
    [Dict, NumberRange, Lazy, Undefined].some((kind) => value instanceof kind)
  );
}

/** Wraps each line at white space and hyphens, as Python's textwrap does. */
const wordwrap = withParameters(
  ['width', 'break_long_words', 'wrapstring', 'break_on_hyphens'],
  (value, [width, breaks, separator, onHyphens]) => {
    const text = textArgument(value, 'wordwrap');
    const most = integerArgument(width, 'width', 79);
    if (most <= 0) fail('ValueError', `invalid width ${most} (must be > 0)`);
    const between =
      separator === undefined || separator === null ? '\n' : plainText(textArgument(separator, 'wrapstring'));
    const options = {
      most,
      breaksWords: breaks === undefined || isTrue(breaks),
      onHyphens: onHyphens === undefined || isTrue(onHyphens),
    };
    const lines = splitLines(text).map((line) => wrapped(plainText(line), options).join(between));
    return traced(lines.join(between), originOfText(text));
  },
);

interface WrapOptions {
  readonly most: number;
  readonly breaksWords: boolean;
  readonly onHyphens: boolean;
}

function wrapped(line: string, { most, breaksWords, onHyphens }: WrapOptions): readonly string[] {
  const rule = onHyphens
    ? /\s+|[^\s-]*[\w!"'&.,?][^\s-]*-+(?=\w)|[^\s-]+(?:-+(?!\w)[^\s-]*)*|-+/g
    : /\s+|\S+/g;
  const chunks = (line.match(rule) ?? []).reverse().map((chunk) => [...chunk]);
  const lines: string[] = [];
  while (chunks.length > 0) {
    let current: string[] = [];
    if (lines.length > 0 && isBlank(chunks[chunks.length - 1])) chunks.pop();
    while (chunks.length > 0 && current.length + chunks[chunks.length - 1].length <= most)
      current = [...current, ...(chunks.pop() as string[])];
    const next = chunks[chunks.length - 1] as string[] | undefined;
    if (next !== undefined && next.length > most) {
      if (breaksWords) current = [...current, ...next.splice(0, Math.max(1, most - current.length))];
      else if (current.length === 0) current = chunks.pop() as string[];
    }
    while (current.length > 0 && isSpace(current[current.length - 1])) current = current.slice(0, -1);
    if (current.length > 0) lines.push(current.join(''));
  }
  return lines;
}

function isBlank(chunk: readonly string[]): boolean {
  return chunk.every(isSpace);
}

export const TEXT_FILTERS: Readonly<Record<string, Filter>> = {
  capitalize: changing(capitalized),
  center: withParameters(['width'], (value, [width]) =>
    pad(str(value), integerArgument(width, 'width', 80), ' ', 'center'),
  ),
  e: escaping,
  escape: escaping,
  forceescape: escaping,
  filesizeformat: withParameters(['binary'], (value, [isBinary]) =>
    fileSize(value, isBinary !== undefined && isTrue(isBinary)),
  ),
  float: withParameters(
    ['default'],
    (value, [fallback]) => toFloat(value instanceof Undefined ? value.refuse() : value) ?? fallback ?? 0,
  ),
  format: ({ value, args, named }) =>
    formatPercent(str(value), named.size > 0 ? new Dict(named) : new Tuple(args)),
  indent,
  int: withParameters(['default', 'base'], (value, [fallback, base]) => {
    const checked = value instanceof Undefined ? value.refuse() : value;
    return toInteger(checked, integerArgument(base, 'base', 10)) ?? fallback ?? 0n;
  }),
  lower: changing((plain) => plain.toLowerCase()),
  replace: withParameters(['old', 'new', 'count'], (value, [old, by, count]) =>
    replaceText(
      str(value),
      str(old ?? fail('TypeError', 'replace needs two texts')),
      str(by ?? fail('TypeError', 'replace needs two texts')),
      integerArgument(count ?? undefined, 'count', -1),
    ),
  ),
  round,
  safe: withParameters([], str),
  string: withParameters([], str),
  striptags: changing((plain) =>
    plain
      .replace(/<!--[^]*?-->|<[^>]*>/g, '')
      .split(/\s+/)
      .filter((word) => word !== '')
      .join(' '),
  ),
  title: changing(titled),
  tojson: withParameters(
    ['ensure_ascii', 'indent', 'separators', 'sort_keys'],
    (value, [ascii, level, separators, sorts]) =>
      dumpJson(value, dumpOptions(ascii ?? false, level ?? null, separators ?? null, sorts ?? false)),
  ),
  trim: withParameters(['chars'], (value, [set]) => strip(str(value), set, 'both')),
  truncate,
  upper: changing((plain) => plain.toUpperCase()),
  urlencode,
  wordcount: withParameters([], (value) =>
    BigInt(plainText(str(value)).match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0),
  ),
  wordwrap,
};
