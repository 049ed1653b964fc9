/** JSON read with its numbers and the order of its keys, and written as Python's `json.dumps` does. */
import { fail, JinjaError } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import { compareTexts } from './characters.js';
import { reprFloat } from './printing.js';
import { isText, plainText, traced, type Text } from './traced-text.js';
import { Dict, isTrue, findOrigin, sequenceItems, typeName, type Key, type Value } from './value.js';

export interface DumpOptions {
  readonly ensureAscii: boolean;
  /** Spaces or text of a level; null: all on one line. */
  readonly indent: string | null;
  readonly itemSeparator: string;
  readonly keySeparator: string;
  readonly sortKeys: boolean;
}

/** @throws JinjaError for a value that JSON doesn't have */
export function dumpJson(value: Value, options: DumpOptions): Text {
  return traced(dump(value, options, ''), findOrigin(value));
}

function dump(value: Value, options: DumpOptions, margin: string): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return dumpFloat(value);
  if (isText(value)) return dumpText(plainText(value), options.ensureAscii);
  const items = sequenceItems(value);
  const inner = options.indent === null ? '' : margin + options.indent;
  if (items)
    return block(
      '[]',
      items.map((item) => dump(item, options, inner)),
      options,
      margin,
    );
  if (!(value instanceof Dict))
    return fail('TypeError', `Object of type ${typeName(value)} is not JSON serializable`);
  const entries = [...value.entries].map(([key, item]) => [key, item] as const);
  if (options.sortKeys) entries.sort(([a], [b]) => compareTexts(dumpKey(a), dumpKey(b)));
  const fields = entries.map(
    ([key, item]) =>
      `${dumpText(dumpKey(key), options.ensureAscii)}${options.keySeparator}${dump(item, options, inner)}`,
  );
  return block('{}', fields, options, margin);
}

function block(brackets: string, parts: readonly string[], options: DumpOptions, margin: string): string {
  takeSize(parts.reduce((sum, { length }) => sum + length, 2));
  if (parts.length === 0) return brackets;
  if (options.indent === null) return `${brackets[0]}${parts.join(options.itemSeparator)}${brackets[1]}`;
  const line = `\n${margin}${options.indent}`;
  return `${brackets[0]}${line}${parts.join(`${options.itemSeparator}${line}`)}\n${margin}${brackets[1]}`;
}

function dumpFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? reprFloat(value) : value > 0 ? 'Infinity' : '-Infinity';
}

function dumpKey(key: Key): string {
  if (typeof key === 'string') return key;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return String(key);
  return typeof key === 'bigint' ? key.toString() : dumpFloat(key);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

// oxlint-disable-next-line no-control-regex -- JSON escapes control characters
const CONTROL = /["\\\u0000-\u001f]/g;

function dumpText(text: string, isAscii: boolean): string {
  // Python escapes the control characters below U+0020, and U+007F where all is ASCII.
  const escaped = text.replace(isAscii ? /["\\]|[^ -~]/g : CONTROL, (character) => {
    return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}

/**
 * Reads JSON as Python's `json.loads` does: whole numbers of any size, floats, and keys in their order.
 *
 * @throws JinjaError `RENDER` for a text that is no JSON
 */
export function parseJson(text: string): Value {
  try {
    // The syntax is checked by the platform's parser; what follows may rely on it.
    JSON.parse(text);
    return new JsonReader(text).value();
  } catch (error) {
    throw new JinjaError('RENDER', (error as Error).message);
  }
}

/** A field of a JSON object as it is written; null for another text, or without the field. */
export function jsonField(text: string, name: string): string | null {
  const value = parseJson(text);
  return value instanceof Dict && value.entries.has(name) ? new JsonReader(text).field(name) : null;
}

const TOKEN = /[ \t\n\r]*("[^"\\]*(?:\\[^][^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[[\]{},:])/y;
/** Deepest nesting that is read; Python's limit is near 1,000. */
const MAX_DEPTH = 500;
const LITERALS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Reads a text that is known to be JSON. */
class JsonReader {
  private at = 0;
  private depth = 0;

  constructor(private readonly text: string) {}

  value(token = this.next()): Value {
    if (token === '{' || token === '[') {
      if (++this.depth > MAX_DEPTH)
        throw new Error(`lists and objects are nested deeper than ${MAX_DEPTH} levels`);
      const inner = token === '{' ? this.dict() : this.list();
      this.depth--;
      return inner;
    }
    if (token.startsWith('"')) return JSON.parse(token) as string;
    const literal = LITERALS.get(token);
    if (literal !== undefined) return literal;
    return /[.eE]/.test(token) ? Number(token) : BigInt(token);
  }

  /** The text of a field's value; of the last of several. */
  field(name: string): string {
    let found = '';
    this.next();
    for (let token = this.next(); token !== '}'; token = this.next()) {
      if (token === ',') continue;
      this.next();
      const start = this.at;
      this.value();
      if (JSON.parse(token) === name) found = this.text.slice(start, this.at).trim();
    }
    return found;
  }

  private dict(): Dict {
    const entries = new Map<Key, Value>();
    for (let token = this.next(); token !== '}'; token = this.next()) {
      if (token === ',') continue;
      this.next();
      entries.set(JSON.parse(token) as string, this.value());
    }
    return new Dict(entries);
  }

  private list(): readonly Value[] {
    const items: Value[] = [];
    for (let token = this.next(); token !== ']'; token = this.next())
      if (token !== ',') items.push(this.value(token));
    return items;
  }

  private next(): string {
    TOKEN.lastIndex = this.at;
    const found = TOKEN.exec(this.text) as RegExpExecArray;
    this.at = TOKEN.lastIndex;
    return found[1];
  }
}

/** The options of transformers' filter `tojson`. */
export function dumpOptions(ascii: Value, indent: Value, separators: Value, sortKeys: Value): DumpOptions {
  const level =
    indent === null ? null : isText(indent) ? plainText(indent) : ' '.repeat(Math.max(0, Number(indent)));
  const given = sequenceItems(separators)?.map((each) => (isText(each) ? plainText(each) : ''));
  if (separators !== null && given?.length !== 2) fail('TypeError', 'tojson needs two separators');
  return {
    ensureAscii: isTrue(ascii),
    indent: level,
    itemSeparator: given?.[0] ?? (level === null ? ', ' : ','),
    keySeparator: given?.[1] ?? ': ',
    sortKeys: isTrue(sortKeys),
  };
}
