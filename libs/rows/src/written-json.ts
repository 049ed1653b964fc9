import { randomUUID } from 'node:crypto';

/**
 * JSON whose numbers and key order stay as they were written. A number in JavaScript has 53 bits, so that 12345678901234567890 loses its last
 * digits, 3.0 becomes 3 and 1e-07 becomes 1e-7, and keys that are integers come first. `parseJson` remembers the text of each list and
 * object in which that would show, and `writeJson` writes it again.
 */

/** The text of lists and objects that `JSON.stringify` would write otherwise. */
const WRITTEN = new WeakMap<object, string>();

/** Stands for a text while the JSON around it is written; no text of a row has it. */
const MARK = `written-${randomUUID()}-`;
const MARKED = new RegExp(`"${MARK}(\\d+)"`, 'g');

/** Texts in which something may be written otherwise; letters within strings count, too, which costs only time. */
const MAY_DIFFER = /\d{16}|\.\d*0(?!\d)|\.000000|\d[eE]|-0|"\d{1,10}"\s*:/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const NUMBER_AT = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LARGE_INTEGER = /^-?[1-9]\d{15,}$/;
const INTEGER_KEY = /^\d{1,10}$/;
/** Deeper values keep no text. */
const MAX_DEPTH = 1000;

/**
 * Parses JSON. An integer beyond 2^53 is a text with its digits, since a number would be another one; `writeJson` writes it as a number.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  if (!MAY_DIFFER.test(text)) return JSON.parse(text);
  const value: unknown = JSON.parse(/\d{16}/.test(text) ? withLargeIntegersAsTexts(text) : text);
  try {
    new WrittenReader(text).read(value, 0);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
  }
  return value;
}

/**
 * Writes a value as JSON without spaces; what is in it that came out of `parseJson`, or has a text by `rememberWritten`, as it was written,
 * and all else as `JSON.stringify` does.
 */
export function writeJson(value: unknown): string {
  const texts: string[] = [];
  const json =
    JSON.stringify(value, (_, item: unknown) => {
      const written = typeof item === 'object' && item !== null ? WRITTEN.get(item) : undefined;
      return written === undefined ? item : `${MARK}${texts.push(compact(written)) - 1}`;
    }) ?? 'null';
  return texts.length === 0 ? json : json.replaceAll(MARKED, (_, index: string) => texts[Number(index)]);
}

/** Remembers how a value is written, where it is not what `JSON.stringify` makes of it. */
export function rememberWritten<T extends object>(value: T, text: string): T {
  WRITTEN.set(value, text);
  return value;
}

/** An integer as a number where that is exact, else as a text with its digits. */
export function exactInteger(digits: string | bigint): number | string {
  const number = Number(digits);
  return String(number) === String(digits) ? number : String(digits);
}

class TooDeep extends Error {}

/** Walks through a text and the value that it was parsed to, at the same time. */
class WrittenReader {
  private at = 0;

  constructor(private readonly text: string) {}

  /** Reads the next value; true when `JSON.stringify` would write it otherwise. */
  read(value: unknown, depth: number): boolean {
    if (depth > MAX_DEPTH) throw new TooDeep();
    this.skipSpace();
    const start = this.at;
    const first = this.text[start];
    if (first === '{') return this.remember(value, start, this.readObject(value as object, depth));
    if (first === '[') return this.remember(value, start, this.readList(value as unknown[], depth));
    if (first === '"') {
      this.at = endOfString(this.text, start);
      return false;
    }
    return this.readPlain();
  }

  private remember(value: unknown, start: number, differs: boolean): boolean {
    if (differs) WRITTEN.set(value as object, this.text.slice(start, this.at));
    return differs;
  }

  private readObject(value: object, depth: number): boolean {
    let differs = false;
    while (this.next('}')) {
      const start = this.at;
      this.at = endOfString(this.text, start);
      const key = JSON.parse(this.text.slice(start, this.at)) as string;
      this.skipSpace();
      this.at++;
      const isOwn = Object.hasOwn(value, key);
      const item: unknown = isOwn ? (value as Record<string, unknown>)[key] : undefined;
      differs = this.read(item, depth + 1) || differs || INTEGER_KEY.test(key);
    }
    return differs;
  }

  private readList(value: readonly unknown[], depth: number): boolean {
    let differs = false;
    for (let index = 0; this.next(']'); index++) differs = this.read(value[index], depth + 1) || differs;
    return differs;
  }

  /** Goes past an opening bracket or a comma to the next item; false, and past the closing bracket, where there is none. */
  private next(closing: string): boolean {
    if (this.text[this.at] !== closing) this.at++;
    this.skipSpace();
    if (this.text[this.at] === ',') {
      this.at++;
      this.skipSpace();
    }
    if (this.text[this.at] !== closing) return true;
    this.at++;
    return false;
  }

  private readPlain(): boolean {
    NUMBER_AT.lastIndex = this.at;
    const number = NUMBER_AT.exec(this.text)?.[0];
    // true, false and null have four or five letters.
    this.at += number?.length ?? (this.text[this.at] === 'f' ? 5 : 4);
    return number !== undefined && String(Number(number)) !== number;
  }

  private skipSpace(): void {
    while (this.text.charCodeAt(this.at) <= 0x20) this.at++;
  }
}

/** The place after the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let numSlashes = 0;
    while (text[quote - 1 - numSlashes] === '\\') numSlashes++;
    if (numSlashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Changes what is between the strings of a JSON text. */
function outsideStrings(text: string, change: (part: string) => string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    parts.push(change(text.slice(at, end)));
    at = quote === -1 ? end : endOfString(text, quote);
    parts.push(text.slice(end, at));
  }
  return parts.join('');
}

const compact = (text: string): string => outsideStrings(text, (part) => part.replaceAll(/\s+/g, ''));

function withLargeIntegersAsTexts(text: string): string {
  const asText = (number: string) =>
    LARGE_INTEGER.test(number) && typeof exactInteger(number) === 'string' ? `"${number}"` : number;
  return outsideStrings(text, (part) => part.replaceAll(NUMBER, asText));
}
