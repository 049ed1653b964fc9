/** Characters as Python's `str` knows them: code points, its white space, its line ends. */
import { takeSize } from '../meter.js';

const SPACES = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);
// oxlint-disable-next-line no-control-regex -- Python's line ends are control characters
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;
const SURROGATE = /[\uD800-\uDFFF]/;

export function isSpace(character: string): boolean {
  return SPACES.has(character);
}

/** Offset of the first character from the left that is not stripped. */
export function leftEdge(text: string, isStripped: (character: string) => boolean = isSpace): number {
  let at = 0;
  while (at < text.length) {
    const character = String.fromCodePoint(text.codePointAt(at) as number);
    if (!isStripped(character)) break;
    at += character.length;
  }
  return at;
}

/** Offset behind the last character that is not stripped from the right. */
export function rightEdge(text: string, isStripped: (character: string) => boolean = isSpace): number {
  let end = text.length;
  while (end > 0) {
    const isPair = end > 1 && /[\uDC00-\uDFFF]/.test(text[end - 1]) && /[\uD800-\uDBFF]/.test(text[end - 2]);
    const start = isPair ? end - 2 : end - 1;
    if (!isStripped(text.slice(start, end))) break;
    end = start;
  }
  return end;
}

export function trimEnd(text: string): string {
  return text.slice(0, rightEdge(text));
}

/** Number of code points. */
export function countCharacters(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  takeSize(text.length);
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The offset in UTF-16 of a code point. */
export function toOffset(text: string, index: number): number {
  if (!SURROGATE.test(text)) return Math.min(index, text.length);
  takeSize(text.length);
  let offset = 0;
  for (let n = 0; n < index && offset < text.length; n++)
    offset += (text.codePointAt(offset) as number) > 0xffff ? 2 : 1;
  return offset;
}

/** The place of an offset in UTF-16 among the code points; −1 stays −1. */
export function indexOfOffset(text: string, offset: number): number {
  return offset < 0 ? -1 : countCharacters(text.slice(0, offset));
}

/** The lines of a text as [start, end of the line, end with its line end]. */
export function lineSpans(text: string): readonly (readonly [number, number, number])[] {
  const spans: (readonly [number, number, number])[] = [];
  let start = 0;
  for (const found of text.matchAll(LINE_END)) {
    const end = found.index + found[0].length;
    spans.push([start, found.index, end]);
    start = end;
  }
  if (start < text.length) spans.push([start, text.length, text.length]);
  return spans;
}

/** Compares by code points, as Python does. */
export function compareTexts(a: string, b: string): number {
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : a > b ? 1 : 0;
  const [left, right] = [[...a], [...b]];
  for (let n = 0; n < Math.min(left.length, right.length); n++) {
    const difference = (left[n].codePointAt(0) as number) - (right[n].codePointAt(0) as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
