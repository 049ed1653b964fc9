/** The methods of Python's `str`. What they cut out of a text keeps its origin. */
import { fail } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import {
  countCharacters,
  indexOfOffset,
  isSpace,
  leftEdge,
  lineSpans,
  toOffset,
  rightEdge,
} from '../values/characters.js';
import {
  isText,
  joinTexts,
  originOfText,
  plainText,
  sliceText,
  traced,
  type Text,
} from '../values/traced-text.js';
import { isTrue, toList, Tuple, typeName, type NamedValues, type Value } from '../values/value.js';
import { bindArguments, integerArgument, plainArgument, textArgument } from './arguments.js';
import { formatBraces, type FormatValues } from './brace-format.js';
import { capitalized, caseFolded, CHARACTER_TESTS, swapCase, titleCase } from './letter-case.js';

/** Counted for each word of a split, beside its text. */
const CHARACTERS_OF_A_WORD = 8;

type Method = (text: Text, args: readonly (Value | undefined)[], name: string) => Value;

interface MethodEntry {
  readonly parameters: readonly string[];
  readonly run: Method;
}

/** Calls a method of a text; null where `str` has no such method. */
export function textMethod(
  name: string,
  access: Pick<FormatValues, 'attribute' | 'item'>,
): ((text: Text, args: readonly Value[], named: NamedValues) => Value) | null {
  if (name === 'format') return (text, args, named) => formatBraces(text, { args, named, ...access });
  if (!Object.hasOwn(METHODS, name)) return null;
  const { parameters, run } = METHODS[name];
  return (text, args, named) => {
    takeSize(plainText(text).length);
    return run(text, bindArguments(name, parameters, args, named), name);
  };
}

/** Removes characters of a set, white space without one, from the ends of a text. */
export function strip(text: Text, set: Value | undefined, ends: 'left' | 'right' | 'both'): Text {
  const characters = set === undefined || set === null ? null : new Set(plainArgument(set, 'strip arg'));
  const isStripped = characters === null ? undefined : (character: string) => characters.has(character);
  const plain = plainText(text);
  const end = ends === 'left' ? plain.length : rightEdge(plain, isStripped);
  const start = ends === 'right' ? 0 : leftEdge(plain.slice(0, end), isStripped);
  return sliceText(text, start, end);
}

/** `text.replace(old, new, count)`; all occurrences with a negative count. */
export function replaceText(text: Text, old: Text, by: Text, count = -1): Text {
  const [plain, wanted] = [plainText(text), plainText(old)];
  const places = wanted === '' ? emptyPlaces(plain) : occurrences(plain, wanted);
  const chosen = count < 0 ? places : places.slice(0, count);
  if (chosen.length === 0) return text;
  const starts = [0, ...chosen.map((place) => place + wanted.length)];
  return joinTexts(
    starts.map((start, n) => sliceText(text, start, chosen[n])),
    by,
  );
}

function emptyPlaces(text: string): readonly number[] {
  const places = [0];
  for (const character of text) places.push(places[places.length - 1] + character.length);
  return places;
}

export function occurrences(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

/** `text.split(separator, most)`. */
export function split(
  text: Text,
  separator: Value | undefined,
  most: number,
  fromRight = false,
): readonly Text[] {
  if (separator === undefined || separator === null) return splitWords(text, most, fromRight);
  const wanted = plainArgument(separator, 'split');
  if (wanted === '') fail('ValueError', 'empty separator');
  const plain = plainText(text);
  const places = fromRight ? occurrencesFromRight(plain, wanted) : occurrences(plain, wanted);
  const chosen =
    most < 0 ? places : fromRight ? places.slice(Math.max(0, places.length - most)) : places.slice(0, most);
  const starts = [0, ...chosen.map((place) => place + wanted.length)];
  takeSize(starts.length);
  return starts.map((start, n) => sliceText(text, start, chosen[n]));
}

function occurrencesFromRight(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  let end = text.length;
  for (let at = text.lastIndexOf(wanted); at >= 0 && at + wanted.length <= end;) {
    places.unshift(at);
    end = at;
    if (at < wanted.length) break;
    at = text.lastIndexOf(wanted, at - wanted.length);
  }
  return places;
}

function splitWords(text: Text, most: number, fromRight: boolean): readonly Text[] {
  const near = fromRight ? 'right' : 'left';
  const words: Text[] = [];
  let rest = strip(text, undefined, near);
  while (plainText(rest) !== '') {
    takeSize(CHARACTERS_OF_A_WORD);
    if (words.length === most) {
      words.push(rest);
      break;
    }
    const plain = plainText(rest);
    const isInWord = (character: string) => !isSpace(character);
    const edge = fromRight ? rightEdge(plain, isInWord) : leftEdge(plain, isInWord);
    words.push(fromRight ? sliceText(rest, edge) : sliceText(rest, 0, edge));
    rest = strip(fromRight ? sliceText(rest, 0, edge) : sliceText(rest, edge), undefined, near);
  }
  return fromRight ? words.reverse() : words;
}

/** `text.splitlines(keepends)`. */
export function splitLines(text: Text, keepEnds = false): readonly Text[] {
  return lineSpans(plainText(text)).map(([start, end, next]) =>
    sliceText(text, start, keepEnds ? next : end),
  );
}

export function pad(text: Text, width: number, fill: string, side: 'left' | 'right' | 'center'): Text {
  const missing = width - countCharacters(plainText(text));
  if (missing <= 0) return text;
  takeSize(width);
  // As CPython: the odd space of an odd width is on the left.
  const left =
    side === 'left' ? missing : side === 'right' ? 0 : Math.floor(missing / 2) + (missing & width & 1);
  return joinTexts([fill.repeat(left), text, fill.repeat(missing - left)]);
}

/** Part of a text in which `find`, `count` and others look, with the offset of its start. */
function window(text: Text, start: Value | undefined, end: Value | undefined): readonly [string, number] {
  const plain = plainText(text);
  const length = countCharacters(plain);
  const place = (value: Value | undefined, fallback: number) => {
    const n = value === undefined || value === null ? fallback : integerArgument(value, 'slice index');
    return Math.min(Math.max(n < 0 ? n + length : n, 0), length);
  };
  const from = toOffset(plain, place(start, 0));
  return [plain.slice(from, Math.max(from, toOffset(plain, place(end, length)))), from];
}

function find(text: Text, [wanted, start, end]: readonly (Value | undefined)[], fromRight: boolean): number {
  const [part, from] = window(text, start, end);
  const sought = plainArgument(wanted, 'find');
  const at = fromRight ? part.lastIndexOf(sought) : part.indexOf(sought);
  return at < 0 ? -1 : indexOfOffset(plainText(text), from + at);
}

function findOrFail(text: Text, args: readonly (Value | undefined)[], fromRight: boolean): bigint {
  const at = find(text, args, fromRight);
  return at < 0 ? fail('ValueError', 'substring not found') : BigInt(at);
}

function hasAffix(text: Text, [affix, start, end]: readonly (Value | undefined)[], name: string): boolean {
  const [part] = window(text, start, end);
  const options = affix instanceof Tuple ? affix.items : [affix];
  return options.some((option) => {
    if (option === undefined || !isText(option))
      return fail(
        'TypeError',
        `${name} first arg must be str or a tuple of str, not ${option === undefined ? 'missing' : typeName(option)}`,
      );
    return name === 'startswith' ? part.startsWith(plainText(option)) : part.endsWith(plainText(option));
  });
}

function partition(text: Text, separator: Value | undefined, fromRight: boolean): Tuple {
  const wanted = plainArgument(separator, 'partition');
  if (wanted === '') fail('ValueError', 'empty separator');
  const plain = plainText(text);
  const at = fromRight ? plain.lastIndexOf(wanted) : plain.indexOf(wanted);
  if (at < 0) return new Tuple(fromRight ? ['', '', text] : [text, '', '']);
  return new Tuple([sliceText(text, 0, at), wanted, sliceText(text, at + wanted.length)]);
}

function join(separator: Text, items: Value | undefined): Text {
  const texts = toList(items ?? null).map((item, n) =>
    isText(item)
      ? item
      : fail('TypeError', `sequence item ${n}: expected str instance, ${typeName(item)} found`),
  );
  return joinTexts(texts, separator);
}

function changed(text: Text, change: (plain: string) => string): Text {
  return traced(change(plainText(text)), originOfText(text));
}

function expandTabs(text: Text, size: number): Text {
  let column = 0;
  return changed(text, (plain) => {
    let out = '';
    for (const character of plain) {
      const width = character === '\t' ? (size > 0 ? size - (column % size) : 0) : 1;
      takeSize(width);
      out += character === '\t' ? ' '.repeat(width) : character;
      column = character === '\n' || character === '\r' ? 0 : column + width;
    }
    return out;
  });
}

function zeroFilled(text: Text, width: number): Text {
  const missing = width - countCharacters(plainText(text));
  if (missing <= 0) return text;
  takeSize(width);
  const sign = /^[-+]/.test(plainText(text)) ? 1 : 0;
  return joinTexts([sliceText(text, 0, sign), '0'.repeat(missing), sliceText(text, sign)]);
}

function fillArgument(value: Value | undefined): string {
  const fill = value === undefined ? ' ' : plainArgument(value, 'fill character');
  return countCharacters(fill) === 1
    ? fill
    : fail('TypeError', 'The fill character must be exactly one character long');
}

const method = (parameters: readonly string[], run: Method): MethodEntry => ({ parameters, run });
const plainMethod = (change: (plain: string) => string) => method([], (text) => changed(text, change));
const padding = (side: 'left' | 'right' | 'center') =>
  method(['width', 'fillchar'], (text, [width, fill]) =>
    pad(text, integerArgument(width, 'width'), fillArgument(fill), side),
  );
const stripping = (ends: 'left' | 'right' | 'both') =>
  method(['chars'], (text, [set]) => strip(text, set, ends));
const splitting = (fromRight: boolean) =>
  method(['sep', 'maxsplit'], (text, [separator, most]) =>
    split(text, separator, integerArgument(most, 'maxsplit', -1), fromRight),
  );
const RANGE = ['sub', 'start', 'end'];

const METHODS: Readonly<Record<string, MethodEntry>> = {
  capitalize: plainMethod(capitalized),
  casefold: plainMethod(caseFolded),
  center: padding('center'),
  count: method(RANGE, (text, [wanted, start, end]) => {
    const [part] = window(text, start, end);
    const sought = plainArgument(wanted, 'count');
    return BigInt(sought === '' ? countCharacters(part) + 1 : occurrences(part, sought).length);
  }),
  endswith: method(RANGE, (text, args, name) => hasAffix(text, args, name)),
  expandtabs: method(['tabsize'], (text, [size]) => expandTabs(text, integerArgument(size, 'tabsize', 8))),
  find: method(RANGE, (text, args) => BigInt(find(text, args, false))),
  index: method(RANGE, (text, args) => findOrFail(text, args, false)),
  join: method(['iterable'], (text, [items]) => join(text, items)),
  ljust: padding('right'),
  lower: plainMethod((plain) => plain.toLowerCase()),
  lstrip: stripping('left'),
  partition: method(['sep'], (text, [separator]) => partition(text, separator, false)),
  removeprefix: method(['prefix'], (text, [prefix]) => {
    const given = plainArgument(prefix, 'prefix');
    return plainText(text).startsWith(given) ? sliceText(text, given.length) : text;
  }),
  removesuffix: method(['suffix'], (text, [suffix]) => {
    const [plain, given] = [plainText(text), plainArgument(suffix, 'suffix')];
    return given !== '' && plain.endsWith(given) ? sliceText(text, 0, plain.length - given.length) : text;
  }),
  replace: method(['old', 'new', 'count'], (text, [old, by, count]) =>
    replaceText(text, textArgument(old, 'old'), textArgument(by, 'new'), integerArgument(count, 'count', -1)),
  ),
  rfind: method(RANGE, (text, args) => BigInt(find(text, args, true))),
  rindex: method(RANGE, (text, args) => findOrFail(text, args, true)),
  rjust: padding('left'),
  rpartition: method(['sep'], (text, [separator]) => partition(text, separator, true)),
  rsplit: splitting(true),
  rstrip: stripping('right'),
  split: splitting(false),
  splitlines: method(['keepends'], (text, [keeps]) => splitLines(text, keeps !== undefined && isTrue(keeps))),
  startswith: method(RANGE, (text, args, name) => hasAffix(text, args, name)),
  strip: stripping('both'),
  swapcase: plainMethod(swapCase),
  title: plainMethod(titleCase),
  upper: plainMethod((plain) => plain.toUpperCase()),
  zfill: method(['width'], (text, [width]) => zeroFilled(text, integerArgument(width, 'width'))),
  ...Object.fromEntries(
    Object.entries(CHARACTER_TESTS).map(([name, holds]) => [
      name,
      method([], (text) => holds(plainText(text))),
    ]),
  ),
};
